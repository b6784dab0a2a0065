"""`LabelTreeClassifier`: the batch probabilistic label tree."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.estimators import MultiLabelClassifier, StoredForest
from labeltree.learning import LabelTreeLearner
from labeltree.node_estimators.estimators import check_node_estimator
from labeltree.prediction import LabelTreePredictor
from labeltree.training.hold_out import HoldOutLearner
from labeltree.training.losses import LOSSES
from labeltree.training.presets import PublishedSettings
from labeltree.training.solvers import SOLVERS, check_solver_parameters
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeSource, check_tree
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    WordOrMatrix,
    WordOrNumber,
    check_parameters,
    check_tree_weight,
    n_threads,
)

_CONSTRAINTS: dict[str, Constraint] = {
    "n_trees": Number(1, LARGEST_INTEGER, integer=True),
    "tree": Choice(TREE_WORDS, (LabelTree, TreeSource, list, tuple)),
    **TREE_CONSTRAINTS,
    # None in a model that was saved without them
    "label_vectors": WordOrMatrix(LABEL_VECTORS, optional=True),
    "loss": Choice(tuple(LOSSES)),
    "link": Choice(("auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2")),
    "penalty": Choice(("l2", "l1")),
    "siblings": Choice(("independent", "joint")),
    "C": WordOrNumber(
        ("auto", "auto_per_level"), Number(0, 1e10, open_low=True, optional=True), or_sequence=True
    ),
    # "given" in a model that was saved without them
    "label_weight": Choice(("propensity", "given"), (Mapping, list, tuple, np.ndarray), optional=True),
    "tol": Number(0, open_low=True),
    "max_iter": Number(1, LARGEST_INTEGER, integer=True),
    "solver": Choice(tuple(SOLVERS)),
    "learning_rate": Number(0, 1e10, open_low=True, optional=True),
    "epochs": Number(1, LARGEST_INTEGER, integer=True),
    "regularization": Number(0, 1e10, optional=True),
    "prune": Number(0),
    "normalize": Flag(),
    "bias": Flag(),
    "search": Choice(("exact", "beam")),
    "beam": Number(1, LARGEST_INTEGER, integer=True),
    "missing_estimates": Choice(("path", "zero")),
    "normalize_siblings": Flag(),
    "n_jobs": Number(integer=True, optional=True),
    "verbose": Number(integer=True),
}


class LabelTreeClassifier(
    PublishedSettings,
    LabelTreeLearner,
    HoldOutLearner,
    LabelTreePredictor,
    StoredForest,
    MultiLabelClassifier,
):
    """Multi-label classification with a few labels out of very many, by a probabilistic label tree.

    Labels are the leaves of a tree. Every node has a linear classifier that estimates the probability of a positive
    label below it given that there is one below its parent; the probability of a label is the product along its path.

    Parameters
    ----------
    n_trees : int
        Trees to train, each from another seed; their probabilities are averaged.
    tree : str, LabelTree, Taxonomy, or a list of these
        How labels are arranged: the word of a tree builder (`labeltree.trees.TREE_WORDS`), or a tree or a taxonomy of
        your own. "kmeans" clusters similar labels into parts of equal size; `docs/trees.md` compares the words. A list
        or tuple has one entry for each of `n_trees`.
    max_arity : int, optional
        A node with more children than this gets nodes in between, by clustering its children into parts of equal size:
        what a given hierarchy with wide levels needs.
    arity : int
        The largest number of clusters that the labels of a node are split into.
    max_leaves : int
        A node with at most so many labels has them as its children ("complete" and "huffman" trees have no such limit).
    max_depth : int, optional
        The largest number of edges from the root to a label; a node one edge above that has all its labels as children.
        For the same trees as `max_leaves`.
    frequent_share : float
        In clustered trees, a label that at least this share of a node's examples have is a leaf right below that node,
        beside the clusters of the others; 0 for none.
    collapse : int
        So many layers of a tree that is built are merged into one: 3 makes a tree of arity 8 of binary clusters.
    label_vectors : {"features", "cooccurrence", "both"} or matrix of shape (n_labels, n_dimensions)
        What labels are clustered by, scaled to unit length: the sum of their examples, how often they occur with every
        label, both side by side, or vectors of your own in the order of `classes_` (which are not saved with a model).
    label_vector_prune : float
        Entries below this are dropped from label vectors that are made of examples; not to be confused with `prune`.
    loss : {"squared_hinge", "logistic", "squared", "exponential"}
        What the node classifiers minimise, beside the penalty.
    link : {"auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2"}
        How a node's score s becomes a probability. For the squared hinge: exp(-max(0, 1 - s)ⁿ) with n = 4 (the
        default), 5, 3 or 2, or (1 + s) / 2 clipped to [0, 1]; so for the squared loss. For the logistic loss: the
        sigmoid of s; for the exponential loss: that of 2 s.
    penalty : {"l2", "l1"}
        What keeps weights small: half their sum of squares, or the sum of their absolute values, which makes most of
        them 0 in training, instead of dropping small ones (`prune`) after it. Not with the exponential loss.
    siblings : {"independent", "joint"}
        Whether the children of a node have a classifier each, or at nodes of at most five children one together: of
        which of them have a positive label below, by multinomial logistic regression. Needs the logistic loss without
        `label_weight`, and narrow trees: a small `arity` and ``frequent_share=0``.
    C : float, sequence of float, "auto", "auto_per_level" or None
        The weight of the examples against the penalty; by default 1 for the squared hinge, 8 for the logistic, 0.7 for
        the squared and 2 for the exponential loss; with the penalty "l1" 1 for the squared hinge and the squared, 2 for
        the logistic loss. A sequence has one for each level of the tree, from the root down, the last for all levels
        below. "auto" chooses one by the precision on rows held out of a sample, "auto_per_level" one for each level by
        the log loss of its nodes.
    label_weight : {"propensity"}, array of shape (n_labels,), dict or None
        How much positive examples of each label count, 1 by default; at an inner node as much as the heaviest of their
        labels below it. "propensity" makes rare labels count more, as the propensity-scored metrics do. An array is in
        the order of `classes_`; a dict may leave labels out.
    tol : float
        A node is trained until no example violates its optimality conditions by more than half of this, in units of
        the score. Features that are not scaled (`normalize` off) may need less. With the penalty "l1": until no weight
        would move a score by more than a tenth of this.
    max_iter : int
        The largest number of passes over the examples of a node; with the penalty "l1", of Newton steps.
    solver : {"descent", "adagrad", "sgd", "fobos"}
        How the node classifiers are learned: from all examples at once, by coordinate descent (with `penalty`, `C`,
        `tol` and `max_iter`), or incrementally, every example making one step of AdaGrad, stochastic gradient descent
        with an L2 penalty, or FOBOS, which is the same with an L1 penalty (with the three parameters that follow, and
        without C). A parameter that the solver does not use must be left at its default.
    learning_rate : float, optional
        The size of the first incremental step; it falls to 0 in a straight line. By default 3 for the logistic loss;
        for the squared hinge 0.4 (AdaGrad) or 0.2. With rows longer than 1 (`normalize` off) SGD and FOBOS need less.
    epochs : int
        Passes over the examples of an incremental solver, each in another order.
    regularization : float, optional
        The weight of the penalty of SGD or FOBOS against the loss of one example; by default 1e-5 for the squared
        hinge, 1e-6 for the logistic loss.
    prune : float
        Weights below this are dropped after training; the penalty "l1" leaves fewer. It suits rows of about unit
        length; if `normalize` is off and features are larger, weights are smaller and so must this be. Weights of dense
        features are all kept.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a row with sparse and dense features each
        part to half of it, by squares.
    bias : bool
        Add a feature that is 1 in every row.
    node_estimator : classifier of scikit-learn, optional
        Put a copy of this into every node instead of the linear classifiers; it must have `predict_proba`. It gets the
        node's rows of X (scaled by `normalize`, sparse if X is) with classes 0 and 1, and `sample_weight` if it takes
        that. Where its own `random_state` is None, each node gets an integer that depends on the seed. Parameters of
        the linear classifiers (`loss`, `C`, `solver` and the like) must then be left at their defaults. Much slower
        than these, and neither `save` nor `explain` is possible: pickle such a model.
    search : {"exact", "beam"}
        How the k best labels are found: exactly, or by keeping only the `beam` best nodes of every level. All labels
        above a threshold (`predict`, `predict_proba` with ``top_k=None`` or thresholds per label) are found exactly.
    beam : int
        The width of the beam.
    tree_weight : sequence of float, optional
        How much each tree counts in the average of their probabilities, 1 by default.
    missing_estimates : {"path", "zero"}
        Of several trees, each proposes its own k best labels. What a tree says about a label that only others
        proposed: its probability, found by walking the label's path, or 0, which is faster and less exact.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1 (they cannot, were they exact).
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
    random_state : int, RandomState or None
        The seed. The same seed gives the same model, bit for bit.
    verbose : int
        Above 0: show progress; 0: show it on a terminal only; below 0: never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels as they were given: of a matrix its column numbers.
    tree_, trees_ : LabelTree, list of LabelTree
        The first tree, and all.
    weights_ : list of TreeWeights
        The trained weights of each tree; with a `node_estimator`, a list of `NodeEstimators`.
    training_report_ : list of dict
        Per tree: binary problems solved, how many of them `max_iter` stopped, nodes that are constant, rows visited
        and the most passes over the rows that a problem took.
    n_iter_ : int
        The most passes over its rows that a node took.
    C_ : float or list of float
        The C that `fit` used, or that of each level from the root down; not there with incremental solvers and node
        estimators. Not saved with a model; but the parameter `C` is saved as this where it was to be chosen.
    C_scores_ : dict or None
        If C was chosen: the score of every C that was tried, which is the mean of P@1, P@3 and P@5, or for each level
        its log loss per row. Not saved with a model.
    calibration_ : Calibration
        Once `calibrate` was called: the maps that take the place of the link.
    label_counts_ : array of shape (n_labels,)
        How many training rows had each label.
    n_samples_fit_ : int
        The number of training rows.
    decision_ : Decision
        What `predict` gives: labels of probability 0.5 or more, unless `decide_for` or `fit_for` says otherwise.
    fit_seconds_ : dict
        How long clustering the labels, choosing C if so asked, and training the nodes took, over all trees. Not saved
        with a model.
    dense_features_ : (int, int)
        The range of features that are handled as dense ones: the first of them and the one after the last.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]]
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]]
    >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
    >>> labels, probabilities = model.predict_topk([[0.0, 1.0, 0.0]], k=2)
    >>> labels
    array([['pet', 'dog']], dtype=object)
    """

    def __init__(
        self,
        n_trees: int = 1,
        *,
        tree: Any = "kmeans",
        max_arity: int | None = None,
        arity: int = 32,
        max_leaves: int = 100,
        max_depth: int | None = None,
        frequent_share: float = 0.01,
        collapse: int = 1,
        label_vectors: Any = "features",
        label_vector_prune: float = 0.01,
        loss: str = "squared_hinge",
        link: str = "auto",
        penalty: str = "l2",
        siblings: str = "independent",
        C: Any = None,
        label_weight: Any = None,
        tol: float = 0.2,
        max_iter: int = 10,
        solver: str = "descent",
        learning_rate: float | None = None,
        epochs: int = 3,
        regularization: float | None = None,
        prune: float = 0.1,
        normalize: bool = True,
        bias: bool = True,
        node_estimator: Any = None,
        search: str = "exact",
        beam: int = 10,
        tree_weight: Any = None,
        missing_estimates: str = "path",
        normalize_siblings: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.tree = tree
        self.max_arity = max_arity
        self.arity = arity
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.frequent_share = frequent_share
        self.collapse = collapse
        self.label_vectors = label_vectors
        self.label_vector_prune = label_vector_prune
        self.loss = loss
        self.link = link
        self.penalty = penalty
        self.siblings = siblings
        self.C = C
        self.label_weight = label_weight
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.regularization = regularization
        self.prune = prune
        self.normalize = normalize
        self.bias = bias
        self.node_estimator = node_estimator
        self.search = search
        self.beam = beam
        self.tree_weight = tree_weight
        self.missing_estimates = missing_estimates
        self.normalize_siblings = normalize_siblings
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_tree(self.tree)
        check_parameters(self, _CONSTRAINTS)
        check_random_state(self.random_state)
        n_threads(self.n_jobs)  # raises for 0
        self._link_of(self.loss)
        check_node_estimator(self, _DEFAULTS)
        if self.tree_weight is not None:
            check_tree_weight(self.tree_weight, self.n_trees)

    def _check_training_parameters(self) -> None:
        # Not for a saved model: what its solver did not use may have had another default then.
        self._check_parameters()
        check_solver_parameters(self, _DEFAULTS)

    def _link(self) -> str:
        return self._link_of(self.loss_)

    def _link_of(self, loss: str) -> str:
        links = LOSSES[loss].links
        if self.link == "auto":
            return links[0]
        if self.link not in links:
            raise ValueError(f"link {self.link!r} does not go with loss {loss!r}; expected one of {links}")
        return self.link

    def _keep_report(self, reports: list[dict[str, int]]) -> None:
        self.training_report_ = reports
        self.n_iter_ = max([1, *(report.get("n_passes", 1) for report in reports)])
        # What weights were trained with goes with them, whatever is set later.
        self.normalize_ = bool(self.normalize)
        self.loss_ = self.loss

    def _parameters_as_trained(self) -> dict[str, Any]:
        # A saved model answers the same for ever, whatever "auto" will mean: the link is written by name, C as chosen.
        trained = {"normalize": self.normalize_, "loss": self.loss_, "link": self._link()}
        trained["n_trees"] = len(self.weights_)
        if isinstance(self.C, str):
            trained["C"] = getattr(self, "C_", self.C)
        return {**self.get_params(deep=False), **trained}


_DEFAULTS = {name: parameter.default for name, parameter in signature(LabelTreeClassifier).parameters.items()}

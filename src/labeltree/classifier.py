"""`LabelTreeClassifier`: the batch probabilistic label tree."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields, replace
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.labels.reading import read_labels, read_labels_of
from labeltree.model.feature_reader import FeatureReader
from labeltree.node_estimators.estimators import check_node_estimator
from labeltree.node_estimators.forest import EstimatorForest
from labeltree.node_estimators.plan import EstimatorLearner, EstimatorPlan
from labeltree.progress import phases
from labeltree.training.examples import Examples
from labeltree.training.linear_learner import LinearLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.training.plan import Run
from labeltree.training.presets import preset
from labeltree.training.solvers import SOLVERS, check_solver_parameters, default_c, incremental_settings
from labeltree.training.tree_plan import TreePlan, builder
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree, more_trees
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    WordOrMatrix,
    WordOrNumber,
    check_count,
    check_parameters,
    check_sample_weight,
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


@dataclass(eq=False, repr=False)
class LabelTreeClassifier(LabelTreeEstimator):
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
    weights_ : list of BlockWeights
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

    n_trees: int = 1
    _: KW_ONLY
    tree: Any = "kmeans"
    max_arity: int | None = None
    arity: int = 32
    max_leaves: int = 100
    max_depth: int | None = None
    frequent_share: float = 0.01
    collapse: int = 1
    label_vectors: Any = "features"
    label_vector_prune: float = 0.01
    loss: str = "squared_hinge"
    link: str = "auto"
    penalty: str = "l2"
    siblings: str = "independent"
    C: Any = None
    label_weight: Any = None
    tol: float = 0.2
    max_iter: int = 10
    solver: str = "descent"
    learning_rate: float | None = None
    epochs: int = 3
    regularization: float | None = None
    prune: float = 0.1
    normalize: bool = True
    bias: bool = True
    node_estimator: Any = None
    search: str = "exact"
    beam: int = 10
    tree_weight: Any = None
    missing_estimates: str = "path"
    normalize_siblings: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def check_parameters(self, training: bool = True) -> None:
        check_tree(self.tree)
        check_parameters(self, _CONSTRAINTS)
        check_random_state(self.random_state)
        n_threads(self.n_jobs)  # raises for 0
        self.link_of(self.loss)
        check_node_estimator(self, _DEFAULTS)
        if self.tree_weight is not None:
            check_tree_weight(self.tree_weight, self.n_trees)
        if (
            training
        ):  # a parameter that the solver of a saved model does not use may have had another default then
            check_solver_parameters(self, _DEFAULTS)

    def link_of(self, loss: str) -> str:
        return choose_link(self.link, loss, LOSSES[loss].links)

    def make_plan(self) -> TreePlan:
        """Return how to train, by the parameters."""
        return self._plan_of(recipe_of(self).for_each(self.n_trees), self.seeds(self.n_trees))

    def _plan_of(
        self, recipes: list[TreeRecipe], seeds: list[int], chosen: float | list[float] | None = None
    ) -> TreePlan:
        """How to train some trees; a C that was `chosen` before is not chosen again."""
        tree_weight = (
            None if self.tree_weight is None else self.weight_of_trees(self.n_trees)[-len(recipes) :]
        )
        if self.node_estimator is not None:
            nodes = EstimatorLearner(self.node_estimator, self.n_jobs)
            return EstimatorPlan(recipes, seeds, nodes, "", tree_weight)
        choose = self.C if isinstance(self.C, str) else None
        settings = self._solver_settings()
        if choose is not None and chosen is not None:
            settings, choose = replace(settings, C=chosen), None
        link = self.link_of(self.loss)
        learner = LinearLearner(settings, link, choose)
        return TreePlan(recipes, seeds, learner, link, tree_weight, self.label_weight)

    def _solver_settings(self) -> SolverSettings:
        C: Any = self.C
        if C is None or isinstance(C, str):  # a choice starts from the default
            C = default_c(self.solver, self.loss, self.penalty)
        return SolverSettings(
            solver=self.solver,
            loss=self.loss,
            penalty=self.penalty,
            siblings=self.siblings,
            C=float(C) if isinstance(C, Real) else [float(number) for number in C],
            tol=self.tol,
            max_iter=self.max_iter,
            incremental=incremental_settings(
                self.solver, self.loss, self.learning_rate, self.epochs, self.regularization
            ),
            bias=float(self.bias),
            prune=self.prune,
        )

    def add_trees(
        self, X: Any, y: Any, n_trees: int = 1, *, tree: Any = None, sample_weight: Any = None
    ) -> LabelTreeClassifier:
        """Train more trees and add them to a trained model, whose trees stay as they are.

        With the same examples, `n_trees` and trees added later make the same model as training all of them at once, if
        `random_state` is an integer. `n_trees`, `tree` and, if it is set, `tree_weight` (1 for the new ones) become
        those of all trees.

        Parameters
        ----------
        X, y
            Examples, in any form that `fit` takes, with labels that the model knows.
        n_trees : int
            The number of trees to add.
        tree : optional
            How the new trees are built, as the parameter `tree`; by default as the trees of the model were.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> len(model.add_trees(X, y, n_trees=2, tree="huffman").trees_)
        3
        """
        model = self.model_
        old: Any = model.forest
        if getattr(old, "calibration", None) is not None:
            raise ValueError(
                "the model is calibrated, and new trees would not be: del model.calibration_, add them, and calibrate "
                "again"
            )
        grown = self._with_more_trees(n_trees, tree, old)
        grown.check_parameters()
        reader: Any = model.reader
        labels = read_labels_of(y, self.classes_, model.label_kind)
        weight = check_sample_weight(sample_weight, labels.n_rows)
        examples = Examples(reader.read_rows(X), labels, weight, reader=reader, X=X)
        examples.check()
        recipes = recipe_of(grown).for_each(grown.n_trees)[old.n_trees :]
        plan = grown._plan_of(recipes, grown.seeds(n_trees, old.n_trees), model.training.facts.get("C_"))
        with phases(self.verbose) as shown:
            trained = plan.train(examples, Run(n_threads(self.n_jobs), shown))
        before = model.training.seconds or {}
        record = replace(
            model.training,
            reports=[*model.training.reports, *trained.reports],
            seconds={name: before.get(name, 0.0) + spent for name, spent in trained.seconds.items()},
        )
        self.n_trees, self.tree, self.tree_weight = grown.n_trees, grown.tree, grown.tree_weight
        joined = old.joined(trained.forest, self.weight_of_trees(grown.n_trees))
        self._model = replace(model, forest=joined, training=record)
        for message in trained.warnings:
            warnings.warn(message, UserWarning, stacklevel=2)
        return self

    def _with_more_trees(self, n_trees: int, tree: Any, old: Any) -> LabelTreeClassifier:
        """A copy with parameters for this many trees more."""
        check_count("n_trees", n_trees)
        for name in ("loss", "normalize"):
            if getattr(self, name) != getattr(self, f"{name}_"):
                raise ValueError(
                    f"all trees of a model have the same {name}: set it to {getattr(self, f'{name}_')!r}, as the "
                    f"model was trained, got {getattr(self, name)!r}"
                )
        if isinstance(old, EstimatorForest) != (self.node_estimator is not None):
            raise ValueError(
                "all trees of a model have node estimators, or none has: set node_estimator as it was"
            )
        grown = copy(self)
        grown.n_trees = old.n_trees + n_trees
        grown.tree = more_trees(self.tree, old.n_trees, tree, n_trees)
        if self.tree_weight is not None:
            grown.tree_weight = [*self.weight_of_trees(old.n_trees), *[1.0] * n_trees]
        return grown

    def build_tree(self, X: Any, y: Any, sample_weight: Any = None) -> LabelTree:
        """Return the first tree that `fit` would train on these examples, without training it.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> LabelTreeClassifier(tree="huffman", arity=2).build_tree([[1], [2], [3]], [["a"], ["b"], ["a", "c"]]).depth
        2
        """
        self.check_parameters(training=False)
        _, features = FeatureReader.learn(type(self).__name__, X, self.normalize)
        labels = read_labels(y)
        examples = Examples(features, labels, check_sample_weight(sample_weight, labels.n_rows))
        examples.check()
        recipe = recipe_of(self).for_each(self.n_trees)[0]
        recipe.check(labels.n_labels)
        with phases(self.verbose) as shown:
            return shown.run(
                recipe.describe(labels.n_labels),
                builder(recipe, examples, self.seeds(1)[0], n_threads(self.n_jobs)),
            )

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def loss_(self) -> str:
        """The loss that the node classifiers were trained with."""
        loss: str = self.model_.training.parameters["loss"]
        return loss

    @property
    def C_(self) -> float | list[float]:
        """The C that `fit` used."""
        C: float | list[float] = self._fact("C_")
        return C

    @property
    def C_scores_(self) -> dict[float, Any] | None:
        """The score of every C that was tried, if C was chosen."""
        scores: dict[float, Any] | None = self._fact("C_scores_")
        return scores

    def stored_parameters(self) -> dict[str, Any]:
        # A saved model answers the same for ever, whatever "auto" means later: the link is saved by name, C as chosen.
        stored = super().stored_parameters()
        if isinstance(self.C, str):
            stored["C"] = self.model_.training.facts.get("C_", self.C)
        return stored

    # -- settings of published systems -----------------------------------------------------------------------------

    @classmethod
    def parabel(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with Parabel's settings: three balanced binary trees, squared hinge, beam search."""
        return cls(**preset("parabel", parameters))

    @classmethod
    def bonsai(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with Bonsai's settings: three shallow trees of 100 unbalanced clusters per node."""
        return cls(**preset("bonsai", parameters))

    @classmethod
    def napkinxc(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with napkinXC's settings: one balanced binary tree, logistic loss, exact search.

        C is the middle of the values the paper tunes over: 1, 8, 12, 16 and 32.
        """
        return cls(**preset("napkinxc", parameters))


def recipe_of(estimator: Any) -> TreeRecipe:
    """Return how the tree parameters of an estimator build a tree."""
    return TreeRecipe(**{field.name: getattr(estimator, field.name) for field in fields(TreeRecipe)})


_DEFAULTS = {name: parameter.default for name, parameter in signature(LabelTreeClassifier).parameters.items()}

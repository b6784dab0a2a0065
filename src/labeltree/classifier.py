"""`LabelTreeClassifier`: the batch probabilistic label tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np

from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.labels.reading import read_labels
from labeltree.mapped_rows import labels_given
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.reranked_forest import RerankedForest
from labeltree.node_estimators.estimators import check_node_estimator
from labeltree.node_estimators.plan import EstimatorLearner, EstimatorPlan
from labeltree.progress import Phases, phases
from labeltree.training.examples import Examples
from labeltree.training.identity import training_identity
from labeltree.training.linear_learner import LinearLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.training.memory_plan import Needs, memory_for_tasks
from labeltree.training.more_trees import add_trees
from labeltree.training.parameters import check_checkpoint, check_estimator
from labeltree.training.plan import Plan
from labeltree.training.presets import preset
from labeltree.training.reranking import RerankedPlan
from labeltree.training.run import Run
from labeltree.training.solvers import SOLVERS, check_solver_parameters, default_c, incremental_settings
from labeltree.training.tree_plan import TreePlan
from labeltree.training.workplace import Workplace, workplace
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Number,
    WordOrMatrix,
    WordOrNumber,
    check_sample_weight,
    check_tree_weight,
    n_threads,
)

_CONSTRAINTS: dict[str, Constraint] = {
    "tree": Choice(TREE_WORDS, (LabelTree, TreeSource, list, tuple)),
    **TREE_CONSTRAINTS,
    # None in a saved model whose label vectors were a matrix
    "label_vectors": WordOrMatrix(LABEL_VECTORS, optional=True),
    "loss": Choice(tuple(LOSSES)),
    "link": Choice(("auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2")),
    "penalty": Choice(("l2", "l1")),
    "siblings": Choice(("independent", "joint")),
    "C": WordOrNumber(("auto",), Number(0, 1e10, open_low=True, optional=True), or_sequence=True),
    # "given" in a saved model whose label weights were an array or a dictionary
    "label_weight": Choice(("propensity", "given"), (Mapping, list, tuple, np.ndarray), optional=True),
    "solver": Choice(tuple(SOLVERS)),
    "rate_schedule": Choice(("linear", "constant")),
    "rerank": Number(0, LARGEST_INTEGER, integer=True),
    "memory_gb": Number(0, open_low=True, optional=True),
    "checkpoint": Choice((), (str, os.PathLike), optional=True),
}


#: Parameters that say how a model is trained or answers, and that its weights do not depend on.
_RESOURCES = ("memory_gb", "checkpoint")
_ANSWERS = ("search", "beam", "tree_weight", "missing_estimates", "normalize_siblings", "n_jobs", "verbose")


@dataclass(eq=False, repr=False)
class LabelTreeClassifier(LabelTreeEstimator):
    """Multi-label classification with very many labels by a probabilistic label tree.

    The labels are the leaves of a tree. Every node has a linear classifier that estimates the probability of a positive
    label below the node, given that there is one below its parent. The probability of a label is the product of these
    estimates along its path.

    Parameters
    ----------
    n_trees : int
        Number of trees; the model averages their probabilities. More trees are more precise, and cost time and memory
        in proportion.
    tree : str, LabelTree, Taxonomy, or a list of these
        How to arrange the labels in a tree: the word of a tree builder (`labeltree.trees.TREE_WORDS`), a tree or a
        taxonomy. "unbalanced_kmeans" clusters similar labels, "kmeans" into parts of equal size, "exact_kmeans" into
        exactly `arity` such parts at every node; `docs/trees.md` compares the words. A list or tuple has one entry for
        each of `n_trees`.
    max_arity : int, optional
        Maximum number of children of a node; wider nodes are split by clustering their children into parts of equal
        size. Set it for a given hierarchy with wide levels.
    arity : int
        Maximum number of clusters that the labels of a node are split into. A larger arity
        makes a flatter tree. "kmeans" uses fewer if the tree gets no deeper.
    max_leaves : int
        Maximum number of labels in a leaf cluster. "complete" and "huffman" trees ignore it.
    max_depth : int, optional
        Maximum number of edges from the root to a label; nodes at the last level get all their labels as children.
        "complete" and "huffman" trees ignore it.
    frequent_share : float
        Share of a node's examples from which a label is frequent. In clustered trees, a frequent label becomes a child
        of that node, next to the clusters of the other labels. Use 0 for no such labels.
    collapse : int
        Merge this many layers of the tree into one. For example, 3 turns a binary tree into a tree of arity 8.
    label_vectors : {"features", "cooccurrence", "both"} or matrix of shape (n_labels, n_dimensions)
        The vectors that clustering compares, scaled to unit length: the sum of the examples of each label, its
        cooccurrences with all labels, both side by side, or a matrix in the order of `classes_`. A matrix is not saved
        with a model.
    label_vector_prune : float
        Threshold below which entries of computed label vectors are dropped. A larger value makes clustering faster.
    loss : {"squared_hinge", "logistic", "squared", "exponential"}
        Loss that the node classifiers minimise, in addition to the penalty. Use "logistic" for better probabilities.
    link : {"auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2"}
        Function from a node's score s to a probability. "auto" fits a map for each level of the tree to held-out rows
        of a sample of nodes, so that the probabilities are right on average. With fewer than 1,000 rows, with
        `label_weight` or with joint siblings, it stands for the first link of the loss. For the squared hinge and the
        squared loss that is exp(-max(0, 1 - s)ⁿ) with n = 4; others are n = 5, 3 or 2, or (1 + s) / 2 clipped to
        [0, 1]. For the logistic loss it is the sigmoid of s, for the exponential loss the sigmoid of 2 s.
    penalty : {"l2", "l1"}
        Penalty on the weights: half the sum of their squares, or the sum of their absolute values. "l1" sets most
        weights to 0 during training, instead of dropping small ones afterwards (`prune`). It does not work with the
        exponential loss.
    siblings : {"independent", "joint"}
        Whether every child of a node has a classifier, or a node with at most five children has one for all of them.
        "joint" predicts which children have a positive label below, by multinomial logistic regression. It needs the
        logistic loss without `label_weight`, and narrow trees: a small `arity` and ``frequent_share=0``.
    C : float, sequence of float, "auto" or None
        Weight of the examples against the penalty. "auto" chooses a value for each level of the tree, by the log loss
        on held-out rows of a sample of nodes. A sequence has a value for each level, from the root down; the last one
        holds for all levels below. None, and "auto" with fewer than 1,000 rows or with joint siblings, is 1 for the
        squared hinge, 8 for the logistic, 0.7 for the squared and 2 for the exponential loss; with the penalty "l1" it
        is 2 for the logistic loss and 1 for the others.
    label_weight : {"propensity"}, array of shape (n_labels,), dict or None
        Weight of the positive examples of each label, 1 by default. At an inner node, an example has the largest weight
        of its labels below. "propensity" gives rare labels more weight, as propensity-scored metrics do. An array is in
        the order of `classes_`; labels missing in a dict have weight 1.
    tol : float
        Tolerance of the stopping criterion: training of a node stops when no example violates its optimality conditions
        by more than half of this, in units of the score. With the penalty "l1", it stops when no weight would change a
        score by more than a tenth of this. Features that are not scaled (`normalize` off) may need a smaller value.
    max_iter : int
        Maximum number of passes over the examples of a node; with the penalty "l1", of Newton steps. "descent" with the
        squared hinge or the squared loss starts near the optimum, and this start counts as up to three passes.
    solver : {"descent", "adagrad", "sgd", "fobos"}
        Algorithm that trains the node classifiers. "descent" is coordinate descent on all examples at once; it reads
        `penalty`, `C`, `tol` and `max_iter`. The others are incremental and make one step per example: AdaGrad,
        stochastic gradient descent with an L2 penalty, and FOBOS with an L1 penalty. They read `learning_rate`,
        `rate_schedule`, `epochs` and `regularization`, AdaGrad also `initial_accumulator`. Parameters that the solver
        does not read must be left at their defaults.
    learning_rate : float, optional
        First step size of an incremental solver. The default is 3 for the logistic loss; for the squared hinge it is
        0.4 for AdaGrad and 0.2 for the others. SGD and FOBOS need a smaller value for rows longer than 1 (`normalize`
        off).
    rate_schedule : {"linear", "constant"}
        How the step size of an incremental solver changes: it falls linearly to 0, or stays constant, as in the paper
        and in `OnlineLabelTreeClassifier`.
    initial_accumulator : float, optional
        Initial value of AdaGrad's sums of squared gradients (the ε of the paper), from 1e-12 to 1e12. A smaller value
        lets rare features make larger first steps. The default is 1.
    epochs : int
        Number of passes over the examples of an incremental solver, each in a different order.
    regularization : float, optional
        Weight of the penalty of SGD or FOBOS against the loss of one example. The default is 1e-5 for the squared hinge
        and 1e-6 for the logistic loss.
    prune : float
        Threshold below which weights are dropped after training; weights of dense features are all kept. The default
        suits rows of about unit length. Use a smaller value if `normalize` is off and features are larger.
    weights : {"int8", "bfloat16", "float32"}
        Type that weights are rounded to at the end of `fit`: a trained model answers the same before and after it is
        saved. int8 weights are multiples of 1/127 of the largest weight of their node. They are as precise and as fast
        as float32, and make the smallest model.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a pair, the sparse and the dense part get
        the same length. Turn it off if the length of rows matters.
    bias : bool
        Add a feature that is 1 in every row.
    node_estimator : classifier of scikit-learn, optional
        Classifier with `predict_proba` to use in every node instead of the linear classifiers; each node gets a copy.
        It is fitted on the node's rows of X (scaled by `normalize`, sparse if X is) with classes 0 and 1, and on
        `sample_weight` if it accepts weights. A `random_state` of None becomes a seed for each node. Parameters of the
        linear classifiers (`loss`, `C`, `solver` and others) must be left at their defaults. Such a model is much
        slower and supports neither `save` nor `explain`: pickle it instead.
    rerank : int
        Number of labels that the trees propose for each row; one more linear classifier per label then ranks them.
        This is nearly as precise as 1-vs-all, and takes three to four times the training time of the trees and two to
        three times their memory. 20 is a good number. With 0, the default, the trees rank. See docs/reranking.md.
    search : {"exact", "beam"}
        Search for the k best labels: exact, or a beam search that keeps the `beam` best nodes of every level. The
        search for all labels above a threshold (`predict`, `predict_proba` with ``top_k=None`` or with thresholds per
        label) is always exact.
    beam : int
        Width of the beam. A wider beam is slower and more exact.
    tree_weight : sequence of float, optional
        Weight of each tree in the average of their probabilities, 1 by default.
    missing_estimates : {"path", "zero"}
        How `predict_topk` averages several trees. "path" uses the probabilities of all trees, so that with exact search
        the k best labels are exact. "zero" lets each tree propose its k best labels, and takes the probability 0 where
        a tree does not propose a label: averages are too low.
    normalize_siblings : bool
        Scale up probabilities of siblings that sum to less than 1. Exact probabilities would sum to at least 1.
    memory_gb : float, optional
        Gigabytes of memory that training may use; with an engine, in each process. Finished parts go to temporary files
        (in the directory that the environment variable TMPDIR names), and the model maps them. The model does not
        depend on it. Set it if training runs out of memory, and read X and y from a `labeltree.data.Store`, which is
        mapped as well.
    checkpoint : path, optional
        A directory for finished parts. If it has parts of the same training, training resumes from them. Remove the
        directory after saving the model. A checkpoint of other examples or parameters is refused. It needs an integer
        `random_state`.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
    random_state : int, RandomState or None
        Seed of the training. The same integer gives the same model, bit for bit.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels of y; the column numbers if y is a matrix.
    tree_, trees_ : LabelTree, list of LabelTree
        The first tree, and all trees.
    weights_ : list of BlockWeights
        The trained weights of each tree; with a `node_estimator`, a list of `NodeEstimators`.
    training_report_ : list of dict
        Counts for each tree: binary problems solved, problems stopped by `max_iter`, constant nodes, rows visited, and
        the maximum number of passes over the rows of a problem.
    n_iter_ : int
        Maximum number of passes over the rows of a node.
    C_ : float or list of float
        The C of the training, or the C of each level from the root down. Incremental solvers and node estimators do not
        have it. It is not saved with a model, but a chosen C is saved as the parameter `C`.
    C_scores_ : dict or None
        If C was chosen, by every C that was tried the log loss of each level, summed over held-out rows; NaN for a
        level that needs no training. Not saved with a model.
    calibration_ : Calibration
        The maps that replace the link: those that `fit` made, or `calibrate`.
    label_counts_ : array of shape (n_labels,)
        Number of training rows with each label.
    n_samples_fit_ : int
        Number of training rows.
    decision_ : Decision
        The labels that `predict` returns: by default those with a probability of at least 0.5; `decide_for` and
        `fit_for` change it.
    fit_seconds_ : dict
        Duration of clustering the labels, of the trial that chooses C and calibrates, and of training the nodes, over
        all trees. Not saved with a model.
    dense_features_ : (int, int)
        The range of dense features: the first one, and the one after the last.
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
    tree: Any = "unbalanced_kmeans"
    max_arity: int | None = None
    arity: int = 64
    max_leaves: int = 200
    max_depth: int | None = None
    frequent_share: float = 0.01
    collapse: int = 1
    label_vectors: Any = "features"
    label_vector_prune: float = 0.01
    loss: str = "squared_hinge"
    link: str = "auto"
    penalty: str = "l2"
    siblings: str = "independent"
    C: Any = "auto"
    label_weight: Any = None
    tol: float = 0.2
    max_iter: int = 10
    solver: str = "descent"
    learning_rate: float | None = None
    rate_schedule: str = "linear"
    initial_accumulator: float | None = None
    epochs: int = 3
    regularization: float | None = None
    prune: float = 0.1
    weights: str = "int8"
    normalize: bool = True
    bias: bool = True
    node_estimator: Any = None
    rerank: int = 0
    search: str = "exact"
    beam: int = 10
    tree_weight: Any = None
    missing_estimates: str = "path"
    normalize_siblings: bool = False
    memory_gb: float | None = None
    checkpoint: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    add_trees = add_trees

    def check_parameters(self, training: bool = True) -> None:
        check_tree(self.tree)
        check_estimator(self, _CONSTRAINTS)
        self.link_of(self.loss)
        check_node_estimator(self, _DEFAULTS)
        if self.tree_weight is not None:
            check_tree_weight(self.tree_weight, self.n_trees)
        # A saved model may come from a version where an unused parameter had another default.
        if training:
            check_solver_parameters(self, _DEFAULTS)
            check_checkpoint(self)
            self._check_resources()

    def _check_resources(self) -> None:
        """Raise `ValueError` for a limit or a checkpoint that this training would not keep to."""
        if self.memory_gb is not None and self.node_estimator is not None:
            raise ValueError(
                "memory_gb limits the training of linear classifiers only: leave out memory_gb, or node_estimator"
            )
        learned = any(recipe.tree == "learned" for recipe in TreeRecipe.of(self).for_each(self.n_trees))
        if self.memory_gb is not None and learned:
            raise ValueError("memory_gb does not limit learned trees: leave out memory_gb, or tree='learned'")
        if self.checkpoint is not None and self.node_estimator is not None:
            raise ValueError(
                "checkpoint keeps linear node classifiers only: leave out checkpoint, or node_estimator"
            )

    def _for_some_rows(self) -> LabelTreeClassifier:
        # Only the training on all rows has a checkpoint.
        copied: LabelTreeClassifier = super()._for_some_rows().set_params(checkpoint=None)
        return copied

    def link_of(self, loss: str) -> str:
        return choose_link(self.link, loss, LOSSES[loss].links)

    def open_workplace(self, examples: Examples, shown: Phases) -> AbstractContextManager[Workplace]:
        identity = None
        if self.checkpoint is not None:
            ignored = {*_RESOURCES, *_ANSWERS}
            parameters = {
                name: value for name, value in self.get_params(deep=False).items() if name not in ignored
            }
            identity = training_identity(examples, parameters, shown)
        return workplace(self.task_memory(examples), self.checkpoint, identity)

    def task_memory(self, examples: Examples) -> int | None:
        """Return the number of bytes that a task may use; raise `ValueError` if `memory_gb` is too little."""
        if self.memory_gb is None:
            return None
        recipes = TreeRecipe.of(self).for_each(self.n_trees)
        needs = Needs.of(
            examples,
            n_threads(self.n_jobs),
            self.arity,
            is_balanced=any(recipe.is_balanced for recipe in recipes),
            has_trial=self._chooses_c or self._calibrates,
            n_proposals=int(self.rerank),
        )
        return memory_for_tasks(self.memory_gb, needs)

    def make_plan(self) -> Plan:
        """Return the plan of the training."""
        plan = self.plan_of(TreeRecipe.of(self).for_each(self.n_trees), self.seeds(self.n_trees))
        return RerankedPlan(plan, int(self.rerank)) if self.rerank > 0 else plan

    def plan_of(
        self, recipes: list[TreeRecipe], seeds: list[int], chosen: float | list[float] | None = None
    ) -> TreePlan:
        """Return the plan for some trees; `chosen` is the C that an earlier training chose."""
        tree_weight = (
            None if self.tree_weight is None else self.weight_of_trees(self.n_trees)[-len(recipes) :]
        )
        if self.node_estimator is not None:
            trainer = EstimatorLearner(self.node_estimator, self.n_jobs)
            return EstimatorPlan(recipes, seeds, trainer, "", tree_weight)
        choose, settings = self._chooses_c, self._solver_settings()
        if choose and chosen is not None:
            settings, choose = replace(settings, C=chosen), False
        learner = LinearLearner(settings, choose, self._calibrates)
        return TreePlan(recipes, seeds, learner, self.link_of(self.loss), tree_weight, self.label_weight)

    @property
    def _chooses_c(self) -> bool:
        return isinstance(self.C, str) and self.solver == "descent"

    @property
    def _calibrates(self) -> bool:
        # Weights of labels bend probabilities on purpose: they are not bent back.
        return self.link == "auto" and self.label_weight is None

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
            incremental=incremental_settings(self),
            bias=float(self.bias),
            prune=self.prune,
            weights=self.weights,
        )

    def build_tree(self, X: Any, y: Any = None, sample_weight: Any = None) -> LabelTree:
        """Return the first tree that `fit` would train on these examples, without training it.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> LabelTreeClassifier(tree="huffman", arity=2).build_tree([[1], [2], [3]], [["a"], ["b"], ["a", "c"]]).depth
        2
        """
        self.check_parameters(training=False)
        _, features = FeatureReader.learn(type(self).__name__, X, self.normalize)
        labels = read_labels(labels_given(X, y))
        examples = Examples(features, labels, check_sample_weight(sample_weight, labels.n_rows))
        examples.check()
        recipe = TreeRecipe.of(self).for_each(self.n_trees)[0]
        recipe.check(labels.n_labels)
        with phases(self.verbose) as shown:
            return recipe.grow(examples, self.seeds(1)[0], Run(n_threads(self.n_jobs), shown))

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
        """The log loss of each level with every C that was tried, if C was chosen."""
        scores: dict[float, Any] | None = self._fact("C_scores_")
        return scores

    def stored_parameters(self) -> dict[str, Any]:
        # A saved model answers the same for ever, whatever "auto" means later: the link is saved by name, C as chosen.
        stored = super().stored_parameters()
        if isinstance(self.C, str) and self.model_.training.facts.get("C_scores_") is not None:
            stored["C"] = self.C_
        # The parameter came later: a model without it is saved as before. What was trained is saved, not what was set.
        forest = self.model_.forest
        for name in ("rerank", *_RESOURCES):
            stored.pop(name, None)
        return {**stored, "rerank": forest.n_proposals} if isinstance(forest, RerankedForest) else stored

    # -- settings of published systems -----------------------------------------------------------------------------

    @classmethod
    def parabel(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with Parabel's settings: three balanced binary trees, squared hinge, beam search."""
        return cls(**preset("parabel", parameters))

    @classmethod
    def bonsai(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with Bonsai's settings: three shallow trees of 100 unbalanced clusters per node.

        Labels are clustered by features and co-occurrence together. The authors use ``max_depth=2`` for small sets.
        """
        return cls(**preset("bonsai", parameters))

    @classmethod
    def napkinxc(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with napkinXC's settings: one balanced binary tree, logistic loss, exact search.

        C is the middle of the values the paper tunes over: 1, 8, 12, 16 and 32. For the squared hinge, also set
        ``C=1.0`` and ``link="exp2"``: without them, C is chosen and probabilities are calibrated.
        """
        return cls(**preset("napkinxc", parameters))

    @classmethod
    def xmlc_plt(cls, **parameters: Any) -> LabelTreeClassifier:
        """Return an estimator with XMLC-PLT's settings: a complete binary tree by frequency, logistic loss, SGD."""
        return cls(**preset("xmlc_plt", parameters))


_DEFAULTS = {name: parameter.default for name, parameter in signature(LabelTreeClassifier).parameters.items()}

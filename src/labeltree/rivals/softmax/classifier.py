"""`HierarchicalSoftmaxClassifier`: a softmax at every node of a label tree."""

from __future__ import annotations

from typing import Any

from labeltree.classifier import recipe_of
from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.rivals.softmax.learner import SoftmaxLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.parameters import check_estimator
from labeltree.training.tree_plan import TreePlan
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeSource, check_tree
from labeltree.validation import Choice, Constraint, WordOrMatrix, check_tree_weight

_CONSTRAINTS: dict[str, Constraint] = {
    "tree": Choice(TREE_WORDS, (LabelTree, TreeSource, list, tuple)),
    **TREE_CONSTRAINTS,
    # None in a saved model whose label vectors were a matrix
    "label_vectors": WordOrMatrix(LABEL_VECTORS, optional=True),
}


class HierarchicalSoftmaxClassifier(LabelTreeEstimator):
    """Classification into one of very many classes by hierarchical softmax.

    Labels are the leaves of a tree. Every inner node estimates by softmax which of its children the example's label is
    below; the probability of a label is the product along its path, and those of all labels sum to 1.

    An example with several labels is learned as if one of them had been picked at random: as one example for each,
    weighing its share. What comes out is the probability that a label is the one picked. That keeps the order of
    labels which are independent of each other, given the example; in general it does not, and `LabelTreeClassifier`
    ranks them better. For multi-class data and a binary tree both are the same model.

    Parameters
    ----------
    n_trees : int
        Trees to train, each from another seed; their probabilities are averaged.
    tree : str, LabelTree, Taxonomy, or a list of these
        How labels are arranged: the word of a tree builder (`labeltree.trees.TREE_WORDS`), or a tree or a taxonomy of
        your own. "kmeans" clusters similar labels into parts of equal size; `docs/trees.md` compares the words. A list
        or tuple has one entry for each of `n_trees`.
    max_arity : int, optional
        A node with more children than this gets nodes in between, by clustering its children into parts of equal size.
    arity : int
        The largest number of clusters that the labels of a node are split into. Of two children one logistic
        classifier decides, whose negative is the other's.
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
        What labels are clustered by, as for `LabelTreeClassifier`.
    label_vector_prune : float
        Entries below this are dropped from label vectors that are made of examples; not to be confused with `prune`.
    C : float
        The weight of the examples against the penalty, half the sum of the squared weights. An example with several
        labels is divided among them, so that this is larger than for label trees.
    tol : float
        A node is trained until no example violates its optimality conditions by more than half of this, in units of
        the score.
    max_iter : int
        The largest number of passes over the examples of a node.
    prune : float
        Weights below this are dropped after training. Weights of dense features are all kept.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a row with sparse and dense features each
        part to half of it, by squares.
    bias : bool
        Add a feature that is 1 in every row.
    search : {"exact", "beam"}
        How the k best labels are found: exactly, or by keeping only the `beam` best nodes of every level.
    beam : int
        The width of the beam.
    tree_weight : sequence of float, optional
        How much each tree counts in the average of their probabilities, 1 by default.
    missing_estimates : {"path", "zero"}
        Of several trees, each proposes its own k best labels. What a tree says about a label that only others
        proposed: its probability, found by walking the label's path, or 0, which is faster and less exact.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it. A node is
        trained by one thread, so that a flat tree gains nothing from more.
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
        The trained weights of each tree.
    training_report_ : list of dict
        Per tree: columns that were learned, how many of them `max_iter` stopped, nodes that are constant, rows visited
        and the most passes over the rows that a node took.
    n_iter_ : int
        The most passes over its rows that a node took.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_, dense_features_
        As of `LabelTreeClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    Examples of a label that comes with another count half:

    >>> from labeltree import HierarchicalSoftmaxClassifier, LabelTreeClassifier
    >>> X, y = [[1.0]] * 10, [["cat"]] + [["cat", "pet"]] * 5 + [["dog"]] * 4
    >>> parameters = {"C": 10, "tol": 0.01, "max_iter": 500, "tree": "flat", "random_state": 0}
    >>> HierarchicalSoftmaxClassifier(**parameters).fit(X, y).predict_topk([[1.0]], k=3).labels.tolist()
    [['dog', 'cat', 'pet']]
    >>> LabelTreeClassifier(loss="logistic", **parameters).fit(X, y).predict_topk([[1.0]], k=3).labels.tolist()
    [['cat', 'pet', 'dog']]
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
        C: float = 16.0,
        tol: float = 0.2,
        max_iter: int = 10,
        prune: float = 0.1,
        normalize: bool = True,
        bias: bool = True,
        search: str = "exact",
        beam: int = 10,
        tree_weight: Any = None,
        missing_estimates: str = "path",
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
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.normalize = normalize
        self.bias = bias
        self.search = search
        self.beam = beam
        self.tree_weight = tree_weight
        self.missing_estimates = missing_estimates
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self, training: bool = True) -> None:
        check_tree(self.tree)
        check_estimator(self, _CONSTRAINTS)
        if self.tree_weight is not None:
            check_tree_weight(self.tree_weight, self.n_trees)

    def link_of(self, loss: str) -> str:
        return "softmax"

    def make_plan(self) -> TreePlan:
        """Return the plan of the training."""
        settings = SolverSettings(
            C=float(self.C),
            tol=self.tol,
            max_iter=self.max_iter,
            bias=float(self.bias),
            prune=self.prune,
        )
        recipes = recipe_of(self).for_each(self.n_trees)
        tree_weight = None if self.tree_weight is None else self.weight_of_trees(self.n_trees)
        return TreePlan(recipes, self.seeds(self.n_trees), SoftmaxLearner(settings), "softmax", tree_weight)

"""`HierarchicalSoftmaxClassifier`: a softmax at every node of a label tree."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.training.linear_learner import LinearLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.parameters import check_estimator
from labeltree.training.tree_plan import TreePlan
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree
from labeltree.validation import Choice, Constraint, WordOrMatrix, check_tree_weight

_CONSTRAINTS: dict[str, Constraint] = {
    "tree": Choice(TREE_WORDS, (LabelTree, TreeSource, list, tuple)),
    **TREE_CONSTRAINTS,
    # None in a saved model whose label vectors were a matrix
    "label_vectors": WordOrMatrix(LABEL_VECTORS, optional=True),
}


@dataclass(eq=False, repr=False)
class HierarchicalSoftmaxClassifier(LabelTreeEstimator):
    """Classification into one of very many classes by hierarchical softmax.

    The labels are the leaves of a tree. Every inner node estimates by softmax which of its children the label is below.
    The probability of a label is the product of these estimates along its path; the probabilities of all labels sum to
    1.

    An example with several labels counts as one example for each label, with equal shares of its weight. The model then
    estimates the probability that a label is drawn if one label of the row is drawn at random. This keeps the order of
    labels that are independent of each other, given the example. In general it does not keep it, and
    `LabelTreeClassifier` ranks the labels better. For multi-class data and a binary tree both are the same model.

    Parameters
    ----------
    n_trees : int
        Number of trees; the model averages their probabilities. More trees are more precise, and cost time and memory
        in proportion.
    tree : str, LabelTree, Taxonomy, or a list of these
        How to arrange the labels in a tree: the word of a tree builder (`labeltree.trees.TREE_WORDS`), a tree or a
        taxonomy. "kmeans" clusters similar labels into parts of equal size, "learned" learns the tree with the softmax;
        `docs/trees.md` compares the words. A list or tuple has one entry for each of `n_trees`.
    max_arity : int, optional
        Maximum number of children of a node; wider nodes are split by clustering their children into parts of equal
        size. Set it for a given hierarchy with wide levels.
    arity : int
        Maximum number of clusters that the labels of a node are split into. A node with two
        children has one logistic classifier, and the negative of its weights for the other child.
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
        The vectors that clustering compares, as in `LabelTreeClassifier`.
    label_vector_prune : float
        Threshold below which entries of computed label vectors are dropped. A larger value makes clustering faster.
    C : float
        Weight of the examples against the penalty, half the sum of the squared weights. The default is larger than for
        label trees, because the labels of an example share its weight.
    tol : float
        Tolerance of the stopping criterion: training of a node stops when no example violates its optimality conditions
        by more than half of this, in units of the score.
    max_iter : int
        Maximum number of passes over the examples of a node.
    prune : float
        Threshold below which weights are dropped after training; weights of dense features are all kept.
    weights : {"int8", "bfloat16", "float32"}
        Type that weights are rounded to at the end of `fit`: a trained model answers the same before and after it is
        saved. int8 weights are multiples of 1/127 of the largest weight of their node. They are as precise and as fast
        as float32, and make the smallest model.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a pair, the sparse and the dense part get
        the same length. Turn it off if the length of rows matters.
    bias : bool
        Add a feature that is 1 in every row.
    search : {"exact", "beam"}
        Search for the k best labels: exact, or a beam search that keeps the `beam` best nodes of every level.
    beam : int
        Width of the beam. A wider beam is slower and more exact.
    tree_weight : sequence of float, optional
        Weight of each tree in the average of their probabilities, 1 by default.
    missing_estimates : {"path", "zero"}
        How `predict_topk` averages several trees. "path" uses the probabilities of all trees, so that with exact search
        the k best labels are exact. "zero" lets each tree propose its k best labels, and takes the probability 0 where
        a tree does not propose a label: averages are too low.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
        One thread trains a node, so more threads do not speed up a flat tree.
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
        The trained weights of each tree.
    training_report_ : list of dict
        Counts for each tree: trained columns, columns stopped by `max_iter`, constant nodes, rows visited, and the
        maximum number of passes over the rows of a node.
    n_iter_ : int
        Maximum number of passes over the rows of a node.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_, dense_features_
        As in `LabelTreeClassifier`.
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
    C: float = 16.0
    tol: float = 0.2
    max_iter: int = 10
    prune: float = 0.1
    weights: str = "int8"
    normalize: bool = True
    bias: bool = True
    search: str = "exact"
    beam: int = 10
    tree_weight: Any = None
    missing_estimates: str = "path"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @classmethod
    def learned_tree(cls, **parameters: Any) -> HierarchicalSoftmaxClassifier:
        """Return an estimator with a Learned Tree, after Jernite et al. (2017): the softmax arranges labels."""
        return cls(**{"tree": "learned", "arity": 16, **parameters})

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
            weights=self.weights,
        )
        learner = LinearLearner(settings, kernel="train_softmax")
        recipes = TreeRecipe.of(self).for_each(self.n_trees)
        tree_weight = None if self.tree_weight is None else self.weight_of_trees(self.n_trees)
        return TreePlan(recipes, self.seeds(self.n_trees), learner, "softmax", tree_weight)

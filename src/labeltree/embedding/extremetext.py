"""`ExtremeTextClassifier`: word vectors and node vectors, learned together."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from labeltree.embedding.estimator import EmbeddingClassifier


@dataclass(eq=False, repr=False)
class ExtremeTextClassifier(EmbeddingClassifier):
    """Multi-label classification with learned word vectors under a label tree, after extremeText.

    Every feature of X, such as a word, has a vector. The hidden vector of a row is the sum of the vectors of its words,
    times their values. Every node of a label tree has a vector too, and its product with the hidden vector is the score
    of the node. All vectors are learned together, by stochastic gradient descent on small batches. A model is small and
    answers quickly.

    Parameters
    ----------
    dimension : int
        Number of dimensions of the vectors. More dimensions are more precise, and cost time and memory in proportion.
    tree : str, LabelTree or Taxonomy
        How to arrange the labels in a tree: the word of a tree builder (`labeltree.trees.TREE_WORDS`), a tree or a
        taxonomy. "flat" has no tree: it is a little more precise, and slow for many labels.
    max_arity : int, optional
        Maximum number of children of a node; wider nodes are split by clustering their children into parts of equal
        size. Set it for a given hierarchy with wide levels.
    arity : int
        Maximum number of clusters that the labels of a node are split into.
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
    loss : {"logistic", "softmax"}
        The classifiers of a node's children: "logistic" for independent ones, "softmax" to choose one child. Use
        "softmax" for data with one label per row; several labels of a row then share its weight.
    solver : {"adam", "adagrad", "sgd"}
        How vectors go down their gradients. "adam" is the most precise; "sgd" needs half the memory of the others.
    learning_rate : float, optional
        Step size at the start. By default 0.2 / √dimension for "adam" (0.5 / √dimension for the mean), 0.2 for
        "adagrad", and 0.1 / √batch_size for "sgd", which often needs another one.
    rate_schedule : {"linear", "constant"}
        Whether the learning rate falls to 0 in proportion to the rows seen, or stays.
    epochs : int
        Number of passes over the rows. Raise it for few rows, lower it for many.
    batch_size : int
        Number of rows whose gradients are added up for one step. With 1, every row is a step, as in extremeText;
        small batches are slow, and use one thread only.
    regularization : float
        Weight of the L2 penalty. It is applied to a vector each time an example changes it.
    dropout : float
        Share of the dimensions of a hidden vector that are set to 0 in training, drawn again each time. Raise it if the
        model overfits.
    pooling : {"sum", "mean"}
        How the vectors of the words of a row are joined. With "sum" and `normalize`, rows have unit length before that.
        "mean" divides by the sum of the absolute values, as extremeText does.
    hard_negatives : int
        Number of wrong but probable inner nodes, found through the tree, whose children a row also trains.
    initial_accumulator : float
        The value that AdaGrad's sums of squared gradients start from.
    epsilon : float
        Added to the denominator of the steps of "adam" and "adagrad".
    pretrained : str, path-like, pair of paths or WordVectors, optional
        Word vectors to start from: a file for `labeltree.data.read_word_vectors`, or a ``.npy`` array with a text file
        of the same name that has a word per line. Words without a vector start from random numbers.
    frozen : bool
        Keep the pretrained vectors as they are.
    vector_type : {"int8", "bfloat16", "float32"}
        The type that trained vectors are rounded to. The smaller types make smaller models, and cost little precision.
    normalize : bool
        Scale every row of X to unit length, in training and prediction.
    bias : bool
        Add a bias to the score of every node.
    search : {"exact", "beam"}
        Search for the k best labels: exact, or a beam search that keeps the `beam` best nodes of every level.
    beam : int
        Width of the beam. A wider beam is slower and more exact.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1, so that they sum to 1.
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
    tree_ : LabelTree
        The tree.
    word_vectors_, node_vectors_ : arrays of shape (n_features, dimension) and (n_nodes, dimension)
        The trained vectors, as float32.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_
        As in `LabelTreeClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import ExtremeTextClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]] * 5
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]] * 5
    >>> model = ExtremeTextClassifier(dimension=8, epochs=50, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 1.0, 0.0]])
    [['dog', 'pet']]
    >>> model.transform([[0.0, 1.0, 0.0]]).shape
    (1, 8)
    """

    dimension: int = 100
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
    loss: str = "logistic"
    solver: str = "adam"
    learning_rate: float | None = None
    rate_schedule: str = "linear"
    epochs: int = 10
    batch_size: int = 128
    regularization: float = 0.0
    dropout: float = 0.3
    pooling: str = "sum"
    hard_negatives: int = 0
    initial_accumulator: float = 0.0
    epsilon: float = 1e-8
    pretrained: Any = None
    frozen: bool = False
    vector_type: str = "int8"
    normalize: bool = True
    bias: bool = True
    search: str = "exact"
    beam: int = 10
    normalize_siblings: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @classmethod
    def extremetext(cls, **parameters: Any) -> ExtremeTextClassifier:
        """Return an estimator with extremeText's own settings: a binary tree of 100 leaves, plain SGD, the mean."""
        return cls(**{**_EXTREMETEXT, **parameters})


#: extremeText's own settings, as its published scripts have them.
_EXTREMETEXT: dict[str, Any] = {
    "tree": "exact_kmeans",
    "arity": 2,
    "max_leaves": 100,
    "frequent_share": 0.0,
    "solver": "sgd",
    "learning_rate": 0.5,
    "epochs": 10,
    "batch_size": 1,
    "regularization": 0.003,
    "dropout": 0.0,
    "pooling": "mean",
    "normalize": False,
    "bias": False,
}

"""`ExtremeTextClassifier`: word vectors and node vectors, learned together."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import Tags

from labeltree.data import write_word_vectors
from labeltree.embedding.forest import EmbeddingForest
from labeltree.embedding.plan import LINKS, EmbeddingPlan, StartVectors
from labeltree.embedding.pretrained import is_pretrained, start_vectors
from labeltree.embedding.streaming import OpenBatches, fit_stream
from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.model.model import Model
from labeltree.model.weight_types import WEIGHT_TYPES
from labeltree.progress import phases
from labeltree.training.fit import fit
from labeltree.training.parameters import check_estimator
from labeltree.training.plan import Run
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree
from labeltree.validation import Choice, Constraint, Flag, Number, WordOrMatrix, check_count, n_threads
from labeltree.wording import with_article

_Self = TypeVar("_Self", bound="EmbeddingClassifier")

#: The maximum number of dimensions.
LARGEST_DIMENSION = 100_000

CONSTRAINTS: dict[str, Constraint] = {
    "tree": Choice(TREE_WORDS, (LabelTree, TreeSource)),
    **TREE_CONSTRAINTS,
    # None in a saved model whose label vectors were a matrix
    "label_vectors": WordOrMatrix(LABEL_VECTORS, optional=True),
    "dimension": Number(1, LARGEST_DIMENSION, integer=True),
    "loss": Choice(tuple(LINKS)),
    "solver": Choice(("adam", "adagrad", "sgd")),
    "rate_schedule": Choice(("linear", "constant")),
    "batch_size": Number(1, 1 << 16, integer=True),
    "initial_accumulator": Number(0, 1e10),
    "epsilon": Number(1e-20, 1e10),  # with 0, a number without gradients would become 0 / 0
    "regularization": Number(0, 1e10),
    "dropout": Number(0, 0.95),
    "pooling": Choice(("sum", "mean")),
    "hard_negatives": Number(0, 1000, integer=True),
    "pretrained": Constraint(
        "a file of word vectors, a pair of a .npy file and a file of its words, or labeltree.data.WordVectors",
        is_pretrained,
        optional=True,
    ),
    "frozen": Flag(),
    "vector_type": Choice(tuple(WEIGHT_TYPES.values())),
}


class EmbeddingClassifier(TransformerMixin, LabelTreeEstimator):
    """The base class of estimators that learn word vectors under a label tree."""

    constraints: ClassVar[Mapping[str, Constraint]] = CONSTRAINTS

    # Parameters that not every estimator has, and what they are then.
    loss: str = "logistic"
    bias: bool = True
    hard_negatives: int = 0
    initial_accumulator: float = 0.0
    epsilon: float = 1e-8
    dropout: float = 0.0
    pooling: str = "sum"
    pretrained: Any = None
    frozen: bool = False
    vector_type: str = "int8"
    rate_schedule: str = "linear"

    dimension: int
    solver: str
    learning_rate: float | None
    epochs: int
    batch_size: int
    regularization: float
    n_jobs: int | None

    def fit(
        self: _Self, X: Any, y: Any, sample_weight: Any = None, *, words: Sequence[str] | None = None
    ) -> _Self:
        """Train on the examples X with labels y.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features)
            The rows: counts or tf-idf weights of words.
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
            The labels of each row. Rows may have no label.
        sample_weight : array of shape (n_rows,), optional
            Factor of the loss of each example, 1 by default.
        words : sequence of str, optional
            The words that the columns of X stand for, to look up `pretrained` vectors. By default the columns of a
            frame.
        """
        self._words = _words_of(X) if words is None else words
        try:
            return fit(self, X, y, sample_weight)
        finally:
            del self._words

    def fit_stream(
        self: _Self,
        open_batches: OpenBatches,
        *,
        buffer_rows: int = 100_000,
        words: Sequence[str] | None = None,
    ) -> _Self:
        """Train on a stream of rows that need not fit in memory.

        The stream is read once to count labels, and then once for each of the `epochs`. Rows are shuffled in a buffer.
        The tree is built from a random sample of at most `buffer_rows` rows. With the same seed, the model does not
        depend on the number of threads, nor on the sizes of the batches.

        Parameters
        ----------
        open_batches : callable without arguments
            Returns an iterable of batches ``(X, y)``, from the beginning each time: X is a sparse matrix, whose number
            of columns may differ between batches, and y a list of labels for each row.
            ``lambda: labeltree.data.read_stream("rows.txt")`` is one.
        buffer_rows : int
            Maximum number of rows in memory. More rows are shuffled better.
        words : sequence of str, optional
            As in `fit`.

        Examples
        --------
        >>> from scipy.sparse import csr_matrix
        >>> from labeltree import ExtremeTextClassifier
        >>> def batches():
        ...     for _ in range(10):
        ...         yield csr_matrix([[1.0, 0.0], [0.0, 1.0]]), [["cat", "pet"], ["dog"]]
        >>> model = ExtremeTextClassifier(dimension=8, epochs=30, random_state=0).fit_stream(batches, buffer_rows=8)
        >>> model.predict([[1.0, 0.0]])
        [['cat', 'pet']]
        """
        self.check_parameters()
        check_count("buffer_rows", buffer_rows)
        if not callable(open_batches):
            raise ValueError(
                "open_batches must be a function that returns batches (X, y) from the beginning each time it is "
                f"called, because every epoch reads them; got {with_article(type(open_batches).__name__)}"
            )
        self._words = words
        try:
            plan = self.make_plan()
        finally:
            del self._words
        with phases(self.verbose) as shown:
            self._model = fit_stream(
                self, plan, Run(n_threads(self.n_jobs), shown), open_batches, buffer_rows
            )
        return self

    @property
    def model_(self) -> Model:
        """The trained model. No parameter changes how it answers: the loss decides its link, and it has one tree."""
        return super(LabelTreeEstimator, self).model_

    def fit_arguments(self, vectorizer: Any) -> dict[str, Any]:
        """Return further arguments of `fit` for X that a vectorizer made: the words, if they are needed."""
        return {} if self.pretrained is None else {"words": vectorizer.get_feature_names_out()}

    def check_parameters(self, training: bool = True) -> None:
        check_tree(getattr(self, "tree", "flat"))
        check_estimator(self, self.constraints)
        if self.node_loss == "softmax" and self.hard_negatives > 0:
            raise ValueError(
                "hard_negatives needs loss='logistic': a softmax compares the children of nodes above a label only; "
                f"got loss={self.loss!r}"
            )
        if self.frozen and self.pretrained is None and training:
            raise ValueError(
                "frozen=True keeps pretrained vectors as they are, but there are none: set pretrained"
            )

    @property
    def node_loss(self) -> str:
        """The loss of the nodes: "logistic" or "softmax"."""
        return self.loss

    def link_of(self, loss: str) -> str:
        return LINKS[loss]

    def _recipe(self) -> TreeRecipe:
        return TreeRecipe.of(self)

    def default_rate(self) -> float:
        """Return the learning rate for the solver.

        Longer vectors need shorter steps of Adam, and sums over larger batches shorter steps of SGD. Means are shorter
        than sums of rows of unit length, so that words have a longer way to go.
        """
        rates = {
            "adam": (0.5 if self.pooling == "mean" else 0.2) / math.sqrt(self.dimension),
            "adagrad": 0.2,
            "sgd": 0.1 / math.sqrt(self.batch_size),
        }
        return rates[self.solver]

    def make_plan(self) -> EmbeddingPlan:
        """Return the plan of the training."""
        rate = self.default_rate() if self.learning_rate is None else self.learning_rate
        options = {
            "dimension": int(self.dimension),
            "loss": self.node_loss,
            "solver": self.solver,
            "learning_rate": float(rate),
            "falling_rate": self.rate_schedule == "linear",
            "batch_size": int(self.batch_size),
            "epsilon": float(self.epsilon),
            "initial_accumulator": float(self.initial_accumulator),
            "l2": float(self.regularization),
            "mean": self.pooling == "mean",
            "bias": bool(self.bias),
            "dropout": float(self.dropout),
            "initial_range": 1.0 / self.dimension,  # as in fastText
            "hard_negatives": int(self.hard_negatives),
        }
        words = vars(self).get("_words")

        def start(n_features: int) -> StartVectors:
            return start_vectors(self.pretrained, words, n_features, int(self.dimension), bool(self.frozen))

        return EmbeddingPlan(
            self._recipe(),
            options,
            int(self.epochs),
            self.vector_type,
            self.seeds(1)[0],
            None if self.pretrained is None else start,
        )

    def kept_parameters(self) -> Mapping[str, Any]:
        return {
            "normalize": bool(self.normalize),
            "loss": self.loss,
            "pooling": self.pooling,
            "dimension": int(self.dimension),
        }

    def stored_parameters(self) -> dict[str, Any]:
        stored = super().stored_parameters()
        # Training alone needs them; a file may be gone, and vectors are in the model.
        return {name: None if name == "pretrained" else value for name, value in stored.items()} | (
            {"frozen": False} if "frozen" in stored else {}
        )

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of dense features of X: the first of them and the one after the last."""
        reader: Any = self.model_.reader
        dense: tuple[int, int] = reader.dense_features
        return dense

    @property
    def word_vectors_(self) -> NDArray[np.float32]:
        """The vector of each feature, as float32, shape (n_features, dimension)."""
        return self._embedding.words.as_float32()

    @property
    def node_vectors_(self) -> NDArray[np.float32]:
        """The vector of each node of the tree, as float32, shape (n_nodes, dimension)."""
        return self._embedding.nodes.vectors.as_float32()

    @property
    def _embedding(self) -> EmbeddingForest:
        forest = self.model_.forest
        assert isinstance(forest, EmbeddingForest)
        return forest

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the hidden vector of each row: the sum or the mean of the vectors of its words.

        Parameters
        ----------
        X
            Rows in any form that `fit` takes, or texts if the model was trained on texts.

        Returns
        -------
        array of float32 of shape (n_rows, dimension)
        """
        features: Any = self.model_.read(X)
        hidden = self._embedding.hidden(features)
        vectors = np.zeros((hidden.n_rows, self._embedding.words.dimension), dtype=np.float32)
        for row in range(hidden.n_rows):
            index, values = hidden.row(row)
            vectors[row, index] = values
        return vectors

    def save_word_vectors(
        self, path: str | os.PathLike[str], words: Sequence[str] | NDArray[Any] | None = None
    ) -> None:
        """Write the vectors of words to a text file that word2vec, fastText and gensim read.

        Parameters
        ----------
        path : path of a file
            Written atomically; names ending in ``.gz``, ``.xz`` and ``.zst`` are compressed.
        words : sequence of str, optional
            The words of the features. By default those of the vectorizer, without n-grams of characters and buckets,
            or the columns of the frame that the model was trained on.
        """
        model, vectors = self.model_, self.word_vectors_
        if words is None and model.vectorizer is not None:
            words = model.vectorizer.get_feature_names_out()[: model.vectorizer.features.n_words]
            vectors = vectors[: len(words)]
        elif words is None:
            words = model.feature_names
        if words is None:
            raise ValueError("the features of this model have no names: pass words, one for each feature")
        write_word_vectors(path, [str(word) for word in words], vectors)


def _words_of(X: Any) -> Any:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


@dataclass(eq=False, repr=False)
class ExtremeTextClassifier(EmbeddingClassifier):
    """Multi-label classification with learned word vectors under a label tree, after extremeText.

    Every feature of X, such as a word, has a vector. The hidden vector of a row is the sum of the vectors of its words,
    times their values. Every node of a label tree has a vector too, and its product with the hidden vector is the score
    of the node. All vectors are learned together, by stochastic gradient descent on small batches. A model is small and
    answers in microseconds; `labeltree.mix` with a `LabelTreeClassifier` is more precise than either.

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
        How vectors go down their gradients. "adam" is the most precise; "sgd" needs a third of its memory.
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
        Share of the dimensions of a hidden vector that are set to 0 in training, drawn anew each time. Raise it if the
        model overfits.
    pooling : {"sum", "mean"}
        How the vectors of the words of a row are joined. With "sum" and `normalize`, rows have unit length before that.
        "mean" divides by the sum of the values, as extremeText does.
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
    "tree": "kmeans",
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

"""`EmbeddingClassifier`: the base class of estimators that learn word vectors under a label tree."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree import scikit_learn
from labeltree.data import write_word_vectors
from labeltree.embedding.forest import EmbeddingForest
from labeltree.embedding.plan import LINKS, EmbeddingPlan, StartVectors
from labeltree.embedding.pretrained import is_pretrained, start_vectors
from labeltree.embedding.streaming import OpenBatches, check_stream, fit_stream
from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.model.model import Model
from labeltree.model.weight_types import WEIGHT_TYPES
from labeltree.progress import phases
from labeltree.training.fit import fit
from labeltree.training.parameters import check_estimator
from labeltree.training.run import Run
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import LABEL_VECTORS, TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree
from labeltree.validation import Choice, Constraint, Flag, Number, WordOrMatrix, n_threads

if TYPE_CHECKING:
    from sklearn.utils import Tags

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


class EmbeddingClassifier(scikit_learn.TransformerMixin, LabelTreeEstimator):
    """The base class of estimators that learn word vectors under a label tree."""

    constraints: ClassVar[Mapping[str, Constraint]] = CONSTRAINTS

    # Parameters that not every estimator has, and what they are then.
    hard_negatives: int = 0
    initial_accumulator: float = 0.0
    epsilon: float = 1e-8
    dropout: float = 0.0
    pooling: str = "sum"
    rate_schedule: str = "linear"

    loss: str
    bias: bool
    pretrained: Any
    frozen: bool
    vector_type: str
    dimension: int
    solver: str
    learning_rate: float | None
    epochs: int
    batch_size: int
    regularization: float
    n_jobs: int | None

    def fit(
        self: _Self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        words: Sequence[str | None] | None = None,
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
        n_features: int | None = None,
        words: Sequence[str | None] | None = None,
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
            Number of rows in the shuffle buffer; memory peaks at about twice this. More rows are shuffled better.
        n_features : int, optional
            Minimum number of features; by default the largest number of columns of a batch.
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
        check_stream(open_batches, buffer_rows)
        self._words = words
        try:
            plan = self.make_plan()
        finally:
            del self._words
        with phases(self.verbose) as shown:
            run = Run(n_threads(self.n_jobs), shown)
            self._model = fit_stream(self, plan, run, open_batches, buffer_rows, n_features or 0)
        return self

    @property
    def model_(self) -> Model:
        """The trained model. No parameter changes how it answers: the loss decides its link, and it has one tree."""
        return super(LabelTreeEstimator, self).model_

    def fit_arguments(self, vectorizer: Any) -> dict[str, Any]:
        """Return further arguments of `fit` for X that a vectorizer made: the words, if they are needed."""
        if self.pretrained is None:
            return {}
        features = vectorizer.features
        words: list[str | None] = features.names()[: features.n_words].tolist()
        return {"words": words + [None] * (features.n_columns - len(words))}

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
        # Training alone needs them; a file may be gone, and vectors are in the model.
        return super().stored_parameters() | {"pretrained": None, "frozen": False}

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
        vectors: NDArray[np.float32] = self._embedding.hidden(features).dense_rows(n_threads(self.n_jobs))
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

"""Texts as the mean, the maximum or the minimum of the vectors of their words."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import scikit_learn
from labeltree import sparse as sp
from labeltree.data import WordVectors, read_word_vectors
from labeltree.validation import LARGEST_INTEGER, Constraint, Flag, Number, check_parameters

if TYPE_CHECKING:
    from sklearn.utils import Tags

POOLINGS = ("mean", "max", "min")


def _is_pooling(value: Any) -> bool:
    words = [value] if isinstance(value, str) else list(value)
    return bool(words) and set(words) <= set(POOLINGS) and len(set(words)) == len(words)


_CONSTRAINTS = {
    "pooling": Constraint(f"one or several different of {POOLINGS}", _is_pooling),
    "lowercase": Flag(),
    "idf": Flag(),
    "vocabulary": Constraint(
        "'seen', a collection of words", lambda value: not isinstance(value, str) or value == "seen", True
    ),
    "max_words": Number(1, LARGEST_INTEGER, integer=True, optional=True),
}


@dataclass(eq=False, repr=False)
class WordVectorizer(scikit_learn.TransformerMixin, scikit_learn.BaseEstimator):
    """Convert texts to dense vectors, by pooling pretrained vectors of their words.

    A text becomes the mean of the vectors of its words (a word that occurs twice counts twice), their maximum or
    minimum in every dimension, or several of these side by side (De Boom et al., "Representation learning for very
    short texts using weighted word embedding aggregation", 2016). Words without a vector are ignored; a text without
    any known word becomes the zero vector.

    Parameters
    ----------
    vectors : str, path-like or WordVectors
        A file of word2vec, GloVe or fastText vectors for `labeltree.data.read_word_vectors`, or the vectors themselves.
    pooling : {"mean", "max", "min"} or sequence of these
        How to combine the vectors of a text.
    lowercase : bool
        Convert texts to lower case first. Turn it off for case-sensitive vectors.
    tokenizer : str or callable
        A regular expression whose matches are the words, by default of two or more letters, digits or underscores
        as in scikit-learn; or a function that takes a text and returns its words.
    idf : bool
        Give rare words more weight in the mean: log((1 + n) / (1 + df)) + 1 for a word in df of the n texts of `fit`.
    vocabulary : "seen", collection of str, or None
        The words whose vectors are kept: words in the texts of `fit`, these words, or all words of the file. None takes
        the most memory, but also knows words that only later texts have.
    max_words : int, optional
        The maximum number of words to read, from the beginning of the file. Files usually begin with frequent words.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The row of every kept word in `vectors_`.
    vectors_ : array of float32 of shape (words, dimensions)
    idf_ : array of float32 of shape (words,)
        The weights of the words, if `idf` is on.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.data import WordVectors
    >>> from labeltree.text import WordVectorizer
    >>> vectors = WordVectors(["sea", "boat"], np.array([[1, 0], [0, 3]], dtype=np.float32))
    >>> pooled = WordVectorizer(vectors, pooling=("mean", "max")).fit(["the sea", "a boat"])
    >>> pooled.transform(["A boat on the sea", "the sky"])
    array([[0.5, 1.5, 1. , 3. ],
           [0. , 0. , 0. , 0. ]], dtype=float32)
    >>> pooled.get_feature_names_out()
    array(['mean_0', 'mean_1', 'max_0', 'max_1'], dtype=object)
    """

    vectors: str | os.PathLike[str] | WordVectors
    _: KW_ONLY
    pooling: str | Sequence[str] = "mean"
    lowercase: bool = True
    tokenizer: str | Callable[[str], Iterable[str]] = r"(?u)\b\w\w+\b"
    idf: bool = False
    vocabulary: Any = None
    max_words: int | None = None

    def fit(self, texts: Iterable[str], y: Any = None) -> WordVectorizer:
        """Read the vectors and, if necessary, count the words of the texts."""
        check_parameters(self, _CONSTRAINTS)
        if self.idf and "mean" not in self._poolings():
            raise ValueError(f"idf weighs words in the mean, but pooling is {self.pooling!r}: turn idf off")
        seen = isinstance(self.vocabulary, str)
        n_texts, counts = 0, Counter[str]()
        if seen or self.idf:
            for words in self._tokenize(texts):
                n_texts += 1
                counts.update(set(words))
        kept = self._read(counts.keys() if seen else self.vocabulary)
        if len(kept.words) == 0:
            raise ValueError(
                "none of the words has a vector, so all texts would be zeros: check that the words are in lower case "
                "in both the texts and the vectors, or in neither"
            )
        self.vocabulary_: dict[str, int] = {}
        for row, word in enumerate(kept.words):
            self.vocabulary_.setdefault(word, row)
        self.vectors_ = kept.values
        if self.idf:
            weights = [math.log((1 + n_texts) / (1 + counts[word])) + 1 for word in kept.words]
            self.idf_ = np.array(weights, dtype=np.float32)
        return self

    def transform(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return the pooled vectors of texts.

        Returns
        -------
        array of float32 of shape (texts, poolings × dimensions)
        """
        scikit_learn.check_is_fitted(self)
        counts = self._counts(texts)
        return np.hstack([self._pooled(counts, pooling) for pooling in self._poolings()])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return names such as ``mean_0``: the pooling and the dimension."""
        scikit_learn.check_is_fitted(self)
        dimensions = self.vectors_.shape[1]
        names = [f"{pooling}_{i}" for pooling in self._poolings() for i in range(dimensions)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _poolings(self) -> list[str]:
        return [self.pooling] if isinstance(self.pooling, str) else list(self.pooling)

    def _read(self, wanted: Collection[str] | None) -> WordVectors:
        if not isinstance(self.vectors, WordVectors):
            return read_word_vectors(self.vectors, words=wanted, max_words=self.max_words)
        words = self.vectors.words
        values = np.asarray(self.vectors.values, dtype=np.float32)
        if values.ndim != 2 or len(values) != len(words):
            raise ValueError(
                f"expected a vector for each of {len(words)} words, got the shape {values.shape}"
            )
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            raise ValueError(
                f"expected finite numbers, got others in the vector of {words[finite.argmin()]!r}"
            )
        if wanted is None:
            return WordVectors(words[: self.max_words], values[: self.max_words])
        wanted = frozenset(wanted)
        rows = [i for i, word in enumerate(words[: self.max_words]) if word in wanted]
        return WordVectors([words[i] for i in rows], values[rows])

    def _tokenize(self, texts: Iterable[str]) -> Iterator[Iterable[str]]:
        if isinstance(texts, str):
            raise ValueError("expected a sequence of texts, got a single string: put it into a list")
        words = re.compile(self.tokenizer).findall if isinstance(self.tokenizer, str) else self.tokenizer
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"expected a string as text {row}, got {type(text).__name__}: {text!r:.40}")
            yield words(text.lower() if self.lowercase else text)

    def _counts(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Return how often each known word occurs in each text."""
        begins, columns = [0], []
        for words in self._tokenize(texts):
            columns += [self.vocabulary_[word] for word in words if word in self.vocabulary_]
            begins.append(len(columns))
        shape = (len(begins) - 1, len(self.vectors_))
        ones = np.ones(len(columns), dtype=np.float32)
        counts = sp.csr_matrix((ones, np.array(columns, dtype=np.int64), np.array(begins)), shape=shape)
        counts.sum_duplicates()
        return counts

    def _pooled(self, counts: sp.csr_matrix, pooling: str) -> NDArray[np.float32]:
        if pooling == "mean":
            weights = counts
            if self.idf:
                weights = counts.copy()
                weights.data *= self.idf_[counts.indices]
            totals = np.asarray(weights.sum(axis=1), dtype=np.float32).reshape(-1, 1)
            mean: NDArray[np.float32] = (
                weights @ self.vectors_ / np.maximum(totals, np.finfo(np.float32).tiny)
            )
            return mean
        extreme = np.max if pooling == "max" else np.min
        pooled = np.zeros((counts.shape[0], self.vectors_.shape[1]), dtype=np.float32)
        for row, (begin, end) in enumerate(pairwise(counts.indptr)):
            if begin < end:  # an empty text has no maximum
                pooled[row] = extreme(self.vectors_[counts.indices[begin:end]], axis=0)
        return pooled

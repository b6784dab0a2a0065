"""Texts as the average, the largest or the smallest of the vectors of their words."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from labeltree.data import WordVectors, read_word_vectors
from labeltree.validation import LARGEST_INTEGER, Choice, Flag, Number, check_parameters

POOLINGS = ("mean", "max", "min")

_CONSTRAINTS: dict[str, Number | Choice | Flag] = {
    "lowercase": Flag(),
    "idf": Flag(),
    "max_words": Number(1, LARGEST_INTEGER, integer=True, optional=True),
}

#: So many numbers are gathered at a time when the largest and smallest are looked for.
_GATHERED_NUMBERS = 1 << 22


class WordVectorizer(TransformerMixin, BaseEstimator):
    """Texts as dense vectors, pooled of pretrained vectors of their words.

    A text becomes the average of the vectors of its words (a word that comes twice counts twice), their largest or
    smallest value in every dimension, or several of these one beside the other (De Boom et al., "Representation
    learning for very short texts using weighted word embedding aggregation", 2016). Words without a vector are passed
    over; a text without any word that has one becomes the zero vector.

    Parameters
    ----------
    vectors : str, path-like or WordVectors
        A file of word2vec, GloVe or fastText vectors, as `labeltree.data.read_word_vectors` reads it, or what that
        returned.
    pooling : {"mean", "max", "min"} or sequence of these
        How the vectors of a text are made one.
    lowercase : bool
        Make texts lower case first. Turn it off for vectors that tell case apart.
    tokenizer : str or callable
        A regular expression whose matches are the words, by default of two or more letters, digits or underscores
        as in scikit-learn; or a function that takes a text and returns its words.
    idf : bool
        Weigh words in the mean by how rare they are in the texts of `fit`: log((1 + n) / (1 + df)) + 1.
    vocabulary : "seen", collection of str, or None
        Which vectors are kept: of the words in the texts of `fit`, of these words, or all of the file. The last knows
        words that only later texts have, and takes the most memory.
    max_words : int, optional
        Only so many words from the beginning of the file, where the frequent ones are.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The row in `vectors_` of every word that was kept.
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

    def __init__(
        self,
        vectors: str | os.PathLike[str] | WordVectors,
        *,
        pooling: str | Sequence[str] = "mean",
        lowercase: bool = True,
        tokenizer: str | Callable[[str], Iterable[str]] = r"(?u)\b\w\w+\b",
        idf: bool = False,
        vocabulary: Any = None,
        max_words: int | None = None,
    ) -> None:
        self.vectors = vectors
        self.pooling = pooling
        self.lowercase = lowercase
        self.tokenizer = tokenizer
        self.idf = idf
        self.vocabulary = vocabulary
        self.max_words = max_words

    def fit(self, texts: Iterable[str], y: Any = None) -> WordVectorizer:
        """Read the vectors and, where they are needed, count the words of the texts."""
        check_parameters(self, _CONSTRAINTS)
        poolings = self._poolings()
        if self.idf and "mean" not in poolings:
            raise ValueError(f"idf weighs words in the mean, but pooling is {self.pooling!r}: turn idf off")
        seen = self.vocabulary == "seen" if isinstance(self.vocabulary, str) else False
        if isinstance(self.vocabulary, str) and not seen:
            raise ValueError(
                f"vocabulary must be 'seen', a collection of words or None, got {self.vocabulary!r}"
            )
        n_texts, counts = 0, Counter[str]()
        if seen or self.idf:
            for words in self._tokenize(texts):
                n_texts += 1
                counts.update(set(words))
        kept = self._read(counts.keys() if seen else self.vocabulary)
        if len(kept.words) == 0:
            raise ValueError(
                "none of the words has a vector: all texts would be zeros; are the words in lower case in the one and "
                "not in the other?"
            )
        self.vocabulary_: dict[str, int] = {}
        for row, word in enumerate(kept.words):
            self.vocabulary_.setdefault(word, row)
        self.vectors_ = kept.values
        if self.idf:
            self.idf_ = np.array(
                [math.log((1 + n_texts) / (1 + counts[word])) + 1 for word in kept.words], dtype=np.float32
            )
        return self

    def transform(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """The pooled vectors of texts.

        Returns
        -------
        array of float32 of shape (texts, poolings × dimensions)
        """
        check_is_fitted(self)
        counts = self._counts(texts)
        pooled = {"mean": self._mean, "max": self._extremes, "min": self._extremes}
        parts = [pooled[name](counts, name) for name in self._poolings()]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names such as ``mean_0``: the pooling and the dimension."""
        check_is_fitted(self)
        dimensions = self.vectors_.shape[1]
        names = [f"{pooling}_{i}" for pooling in self._poolings() for i in range(dimensions)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _poolings(self) -> list[str]:
        poolings = [self.pooling] if isinstance(self.pooling, str) else list(self.pooling)
        if not poolings or not set(poolings) <= set(POOLINGS) or len(set(poolings)) < len(poolings):
            raise ValueError(f"pooling must be one or several different of {POOLINGS}, got {self.pooling!r}")
        return poolings

    def _read(self, words: Any) -> WordVectors:
        if not isinstance(self.vectors, WordVectors):
            return read_word_vectors(self.vectors, words=words, max_words=self.max_words)
        values = np.asarray(self.vectors.values, dtype=np.float32)
        if values.ndim != 2 or len(values) != len(self.vectors.words):
            raise ValueError(
                f"expected a vector for each of {len(self.vectors.words)} words, got the shape {values.shape}"
            )
        if not np.isfinite(values).all():
            bad = int(np.argmin(np.isfinite(values).all(axis=1)))
            raise ValueError(
                f"expected finite numbers, got others in the vector of {self.vectors.words[bad]!r}"
            )
        wanted = None if words is None else frozenset(words)
        rows = [
            i
            for i, word in enumerate(self.vectors.words[: self.max_words])
            if wanted is None or word in wanted
        ]
        if len(rows) == len(values):
            return WordVectors(list(self.vectors.words), values)
        return WordVectors([self.vectors.words[i] for i in rows], values[rows])

    def _tokenize(self, texts: Iterable[str]) -> Iterator[Iterable[str]]:
        if isinstance(texts, str):
            raise ValueError("expected a sequence of texts, got a single string: put it into a list")
        words = re.compile(self.tokenizer).findall if isinstance(self.tokenizer, str) else self.tokenizer
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"expected a string as text {row}, got {type(text).__name__}: {text!r:.40}")
            yield words(text.lower() if self.lowercase else text)

    def _counts(self, texts: Iterable[str]) -> csr_matrix:
        """How often each text has each word that has a vector."""
        begins, columns = [0], []
        for words in self._tokenize(texts):
            columns += [self.vocabulary_[word] for word in words if word in self.vocabulary_]
            begins.append(len(columns))
        shape = (len(begins) - 1, len(self.vectors_))
        ones = np.ones(len(columns), dtype=np.float32)
        counts = csr_matrix((ones, np.array(columns, dtype=np.int64), np.array(begins)), shape=shape)
        counts.sum_duplicates()
        return counts

    def _mean(self, counts: csr_matrix, _: str) -> NDArray[np.float32]:
        if self.idf:
            counts = csr_matrix(
                (counts.data * self.idf_[counts.indices], counts.indices, counts.indptr), counts.shape
            )
        totals = np.asarray(counts.sum(axis=1), dtype=np.float32).reshape(-1, 1)
        mean: NDArray[np.float32] = (counts @ self.vectors_) / np.maximum(totals, np.finfo(np.float32).tiny)
        return mean

    def _extremes(self, counts: csr_matrix, name: str) -> NDArray[np.float32]:
        extreme = np.maximum if name == "max" else np.minimum
        found = np.zeros((counts.shape[0], self.vectors_.shape[1]), dtype=np.float32)
        filled = np.flatnonzero(np.diff(counts.indptr))  # an empty text has no largest
        begins = counts.indptr[filled]
        step = max(1, _GATHERED_NUMBERS // self.vectors_.shape[1])
        first = 0
        while first < len(filled):
            # As many texts as have `step` words together, one at least.
            last = max(first + 1, int(np.searchsorted(begins, begins[first] + step, side="right")) - 1)
            end = counts.indptr[filled[last - 1] + 1]
            gathered = self.vectors_[counts.indices[begins[first] : end]]
            found[filled[first:last]] = extreme.reduceat(gathered, begins[first:last] - begins[first])
            first = last
        return found

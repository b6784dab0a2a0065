"""Pretrained word vectors as the start of a training."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.data import WordVectors, read_word_vectors
from labeltree.data.word_vector_array import read_word_vector_array
from labeltree.embedding.plan import StartVectors
from labeltree.wording import count_text

#: A file, a pair of a NumPy file and a file of its words, or the vectors themselves.
Pretrained: TypeAlias = "str | os.PathLike[str] | tuple[Any, Any] | WordVectors"


def is_pretrained(value: Any) -> bool:
    """Return whether a value names word vectors, or holds them."""
    if isinstance(value, tuple) and not isinstance(value, WordVectors):
        return len(value) == 2 and all(isinstance(part, str | os.PathLike) for part in value)
    return isinstance(value, str | os.PathLike | WordVectors)


def start_vectors(
    pretrained: Pretrained,
    words: Sequence[str | None] | NDArray[Any] | None,
    n_features: int,
    dimension: int,
    frozen: bool,
) -> StartVectors:
    """Return the vectors of those features that have one; a feature whose word is None has none.

    Raises
    ------
    ValueError
        If the features have no names or not one name each, if no feature has a vector, or if the vectors have another
        dimension or numbers that are not finite.
    """
    if words is None:
        raise ValueError(
            "pretrained vectors belong to words, but the columns of X have no names: pass words=… to fit, use a frame, "
            "or train on texts with labeltree.text.Tagger"
        )
    if len(words) != n_features:
        raise ValueError(
            f"words must name all {n_features} columns of X, got {count_text(len(words), 'word')}"
        )
    column_of: dict[str, int] = {}
    for column, word in enumerate(words):
        if word is not None and column_of.setdefault(str(word), column) != column:
            raise ValueError(f"words must be distinct, but {word!r} occurs twice")
    if not column_of:
        raise ValueError("pretrained vectors belong to words, but all terms are hashed: leave out n_features")
    found = _read(pretrained, column_of)
    n_dimensions = found.values.shape[1]
    if n_dimensions != dimension:
        raise ValueError(
            f"the pretrained vectors have {n_dimensions} dimensions: set dimension={n_dimensions}, got {dimension}"
        )
    pairs = {
        column_of[word]: row for row, word in reversed(list(enumerate(found.words))) if word in column_of
    }
    if not pairs:
        raise ValueError(
            f"none of the {len(column_of)} words of X has a pretrained vector: check that both are in lower case, or "
            "neither"
        )
    columns = np.array(sorted(pairs), dtype=np.int64)
    rows = [pairs[column] for column in columns.tolist()]
    values = np.ascontiguousarray(found.values[rows], dtype=np.float32)
    return StartVectors(columns, values, frozen)


def _read(pretrained: Pretrained, wanted: dict[str, int]) -> WordVectors:
    if isinstance(pretrained, WordVectors):
        return _checked(pretrained)
    if isinstance(pretrained, tuple):
        return read_word_vector_array(*pretrained, words=wanted.keys())
    if Path(pretrained).suffix == ".npy":
        return read_word_vector_array(pretrained, words=wanted.keys())
    return read_word_vectors(pretrained, words=wanted.keys(), unique=True)


def _checked(vectors: WordVectors) -> WordVectors:
    """Return vectors that were given in Python, as float32."""
    words = list(vectors.words)
    with np.errstate(over="ignore"):
        values = np.asarray(vectors.values, dtype=np.float32)
    if values.ndim != 2 or len(values) != len(words):
        raise ValueError(
            f"pretrained: expected a vector for each of {len(words)} words, got the shape {values.shape}"
        )
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        raise ValueError(
            "pretrained: expected finite float32 numbers, got others in the vector of "
            f"{words[int(finite.argmin())]!r}"
        )
    return WordVectors(words, values)

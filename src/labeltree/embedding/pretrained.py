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

#: A file, a pair of a NumPy file and a file of its words, or the vectors themselves.
Pretrained: TypeAlias = "str | os.PathLike[str] | tuple[Any, Any] | WordVectors"


def is_pretrained(value: Any) -> bool:
    """Return whether a value names word vectors, or is some."""
    if isinstance(value, tuple) and not isinstance(value, WordVectors):
        return len(value) == 2 and all(isinstance(part, str | os.PathLike) for part in value)
    return isinstance(value, str | os.PathLike | WordVectors)


def start_vectors(
    pretrained: Pretrained, words: Sequence[Any] | NDArray[Any] | None, dimension: int, frozen: bool
) -> StartVectors:
    """Return the vectors of those features that have one.

    Raises
    ------
    ValueError
        If the features have no names, if no feature has a vector, or if the vectors have another dimension.
    """
    if words is None:
        raise ValueError(
            "pretrained vectors belong to words, but the columns of X have no names: pass words=… to fit, use a frame, "
            "or train on texts with labeltree.text.Tagger"
        )
    column_of = {str(word): column for column, word in enumerate(words)}
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
        return pretrained
    if isinstance(pretrained, tuple):
        return read_word_vector_array(*pretrained, words=wanted.keys())
    if Path(pretrained).suffix == ".npy":
        return read_word_vector_array(pretrained, words=wanted.keys())
    return read_word_vectors(pretrained, words=wanted.keys(), unique=True)

"""Pairs of a row and a label: the `filter_labels` files of the Extreme Classification Repository."""

from __future__ import annotations

import os
from array import array

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DataFormatError

from .sources import read_lines, source_name

#: A longer number does not fit into 64 bits.
_MOST_DIGITS = 18


def read_filtered_pairs(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Return the pairs of a file with lines 'row label', both counted from 0: sorted, each once, in two columns."""
    numbers = array("q")
    for number, line in read_lines(path):
        words = line.split()
        if not words:
            continue
        if len(words) != 2 or not all(map(_is_number, words)):
            raise DataFormatError(
                f"expected 'row label', two numbers from 0, got {line.strip()[:40]!r}",
                source_name(path),
                number,
            )
        numbers.extend(map(int, words))
    pairs = np.frombuffer(numbers, dtype=np.int64) if numbers else np.empty(0, dtype=np.int64)
    return np.unique(pairs.reshape(-1, 2), axis=0)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS

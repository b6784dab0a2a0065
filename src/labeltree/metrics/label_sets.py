"""The labels of rows as flat arrays of integers, in order or as sets, and the numbering of labels of any kind."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property

IntArray: TypeAlias = NDArray[np.int64]

NO_LABEL = -1
"""Fills the ranks of a row without a label."""


@dataclass(frozen=True)
class LabelLists:
    """The labels of all rows, row after row in the given order, and the number of labels of each row."""

    sizes: IntArray
    labels: IntArray

    @property
    def rows(self) -> IntArray:
        """The row of each label."""
        return row_numbers(self.sizes)

    def first(self, depth: int) -> IntArray:
        """Return the first labels of each row as an array of `depth` columns."""
        starts = np.cumsum(self.sizes) - self.sizes
        filled = np.arange(depth) < self.sizes[:, None]
        array = np.full(filled.shape, NO_LABEL, dtype=np.int64)
        array[filled] = self.labels[(starts[:, None] + np.arange(depth))[filled]]
        return array


@dataclass(frozen=True)
class LabelSets:
    """Which labels each row has: pairs in ascending order of row, then label, each pair once."""

    rows: IntArray
    labels: IntArray
    n_rows: int
    n_labels: int

    @classmethod
    def from_pairs(cls, rows: IntArray, labels: IntArray, n_rows: int, n_labels: int) -> "LabelSets":
        """Make sets of pairs in any order, without repetitions and `NO_LABEL`."""
        present = labels != NO_LABEL
        keys = np.sort(rows[present] * n_labels + labels[present])
        keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
        of_rows, of_labels = np.divmod(keys, max(n_labels, 1))
        return cls(of_rows, of_labels, n_rows, n_labels)

    @cached_property
    def sizes(self) -> IntArray:
        """The number of labels of each row."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @cached_property
    def _keys(self) -> IntArray:
        return self.rows * self.n_labels + self.labels

    def contains(self, rows: IntArray, labels: IntArray) -> NDArray[np.bool_]:
        """Return whether each pair is in the sets, for arrays that broadcast; `NO_LABEL` never is."""
        wanted = rows * self.n_labels + labels
        if self._keys.size == 0:
            return np.zeros(wanted.shape, dtype=np.bool_)
        nearest = np.minimum(np.searchsorted(self._keys, wanted), self._keys.size - 1)
        # Without the second test NO_LABEL would match the last label of the row above.
        found: NDArray[np.bool_] = (self._keys[nearest] == wanted) & (labels != NO_LABEL)
        return found


class Vocabulary:
    """Numbers labels of any hashable kind in the order of their first use; `None` and -1 mean no label."""

    def __init__(self) -> None:
        no_label: dict[Hashable, int] = {None: NO_LABEL, NO_LABEL: NO_LABEL}
        self._numbers = defaultdict(count().__next__, no_label)
        self._reserved = len(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers) - self._reserved

    @property
    def labels(self) -> list[Hashable]:
        """The labels in the order of their numbers."""
        return list(self._numbers)[self._reserved :]

    def encode(self, rows: Sequence[Iterable[Hashable]], name: str) -> LabelLists:
        """Replace labels by numbers; error messages call the rows `name`."""
        sizes: list[int] = []
        numbers: list[int] = []
        for row_number, row in enumerate(rows):
            check_row(row, row_number, name)
            before = len(numbers)
            try:
                numbers.extend([self._numbers[label] for label in row])
            except TypeError as error:
                raise ValueError(f"{name}[{row_number}] must hold hashable labels: {error}") from None
            sizes.append(len(numbers) - before)
        return LabelLists(np.array(sizes, dtype=np.int64), np.array(numbers, dtype=np.int64))

    def encode_true(self, rows: Sequence[Iterable[Hashable]], name: str) -> LabelLists:
        """Encode true labels; refuse missing labels."""
        encoded = self.encode(rows, name)
        if (missing := np.flatnonzero(encoded.labels == NO_LABEL)).size:
            raise ValueError(
                f"{name}[{encoded.rows[missing[0]]}] holds None or -1, which mean 'no label'; "
                "leave it out or rename the label"
            )
        return encoded


def check_row(row: object, number: int, name: str) -> None:
    """Refuse a row that is not a collection of labels; a string would be a row of letters."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ValueError(
            f"{name}[{number}] must be a list of labels, got {row!r}; "
            "for one label per row pass [[label], ...]"
        )


def row_numbers(sizes: NDArray[np.integer[Any]]) -> IntArray:
    """Return the row of each entry; `sizes` is the number of entries of each row."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)

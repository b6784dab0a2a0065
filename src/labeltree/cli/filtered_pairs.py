"""Pairs of a row and a label that do not count: `filter_labels` files of the Extreme Classification Repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cli.data_file import DataFile
from labeltree.data.filtered_pairs import read_filtered_pairs
from labeltree.errors import DataFormatError


@dataclass(frozen=True)
class FilteredPairs:
    """The labels of each row that are neither true nor predicted, whatever the data and the model say.

    `path` is the file they were read from, for messages.
    """

    of_row: Mapping[int, frozenset[Any]]
    path: str = ""

    @classmethod
    def read(cls, path: Path) -> FilteredPairs:
        """Read a file with lines 'row label', both counted from 0."""
        return cls.of(read_filtered_pairs(path), str(path))

    @classmethod
    def of(cls, pairs: NDArray[np.int64], path: str) -> FilteredPairs:
        """Return an array of rows and labels as pairs."""
        of_row: dict[int, set[int]] = defaultdict(set)
        for row, label in pairs.tolist():
            of_row[row].add(label)
        return cls({row: frozenset(labels) for row, labels in of_row.items()}, path)

    def check(self, n_rows: int, labels: NDArray[Any]) -> None:
        """Raise `DataFormatError` if a pair is of a row that the data do not have, or if labels are not numbers."""
        if self.of_row and labels.dtype.kind not in "iu":
            raise DataFormatError(
                f"has numbers of labels, but the labels of the model are names such as {labels.tolist()[0]!r}",
                self.path,
            )
        last = max(self.of_row, default=-1)
        if last >= n_rows:
            raise DataFormatError(
                f"expected rows from 0 to {n_rows - 1}, as the data have, got row {last}: is the file for other data?",
                self.path,
            )

    @property
    def most(self) -> int:
        """The largest number of labels of a row that do not count."""
        return max(map(len, self.of_row.values()), default=0)

    def truth(self, y: Any) -> Any:
        """Return y, a matrix or lists, without the pairs."""
        if isinstance(y, list):
            return self.without(y)
        pairs = [
            (row, label) for row, labels in self.of_row.items() for label in labels if label < y.shape[1]
        ]
        y = y.copy().tolil()
        for row, label in pairs:
            y[row, label] = 0
        return y.tocsr()

    def without(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """Return labels of rows, in their order, without the pairs."""
        nothing: frozenset[Any] = frozenset()
        return [
            [label for label in labels if label not in self.of_row.get(number, nothing)]
            for number, labels in enumerate(rows)
        ]

    def ranking(self, best: Sequence[Sequence[Any]], k: int) -> list[list[Any]]:
        """Return the k best labels of each row that count, out of its best ``k + most`` labels."""
        return [labels[:k] for labels in self.without(best)]


def filtered_pairs(path: Path | None, data: DataFile) -> FilteredPairs | None:
    """Return the pairs of a file or else of a store, if there are any."""
    if path is not None:
        return FilteredPairs.read(path)
    if data.store is None or len(data.store.filtered_pairs) == 0:
        return None
    return FilteredPairs.of(data.store.filtered_pairs, data.path)

"""Pairs of a row and a label that do not count: `filter_labels` files of the Extreme Classification Repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.data.sources import read_lines
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
        of_row: dict[int, set[int]] = defaultdict(set)
        for number, line in read_lines(path):
            words = line.split()
            if not words:
                continue
            if len(words) != 2 or not all(word.isascii() and word.isdigit() for word in words):
                raise DataFormatError(
                    f"expected 'row label', two numbers from 0, got {line.strip()[:40]!r}", str(path), number
                )
            of_row[int(words[0])].add(int(words[1]))
        return cls({row: frozenset(labels) for row, labels in of_row.items()}, str(path))

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

    def ranking(self, model: Any, X: Any, k: int, label_weight: Any = None) -> list[list[Any]]:
        """Return the k best labels of each row that count."""
        best = model.predict_topk(X, k + self.most, label_weight=label_weight).labels
        return [labels[:k] for labels in self.without(np.asarray(best).tolist())]

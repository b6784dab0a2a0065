"""Labels to leave out of single rows, as the Extreme Classification Repository's files of filtered pairs list them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cli.predicted_labels import PredictedLabels
from labeltree.data.lines import LineError
from labeltree.data.sources import read_lines
from labeltree.errors import DataFormatError


@dataclass(frozen=True)
class LabelFilter:
    """The labels to leave out, by row. They count neither as predictions nor as true labels."""

    labels_of: dict[int, frozenset[int]]

    @classmethod
    def read(cls, path: Path, n_rows: int) -> LabelFilter:
        """Read a file with lines ``row label``, both counted from 0."""
        found: dict[int, set[int]] = defaultdict(set)
        for number, pair in read_lines(path, _pair):
            if pair is None:
                continue
            if pair[0] >= n_rows:
                reason = f"expected a row from 0 to {n_rows - 1}, as the data has, got {pair[0]}"
                raise DataFormatError(reason, str(path), number)
            found[pair[0]].add(pair[1])
        return cls({row: frozenset(labels) for row, labels in found.items()})

    @property
    def n_pairs(self) -> int:
        return sum(map(len, self.labels_of.values()))

    @property
    def most(self) -> int:
        """The largest number of labels of a row."""
        return max(map(len, self.labels_of.values()), default=0)

    def truth(self, y: Any) -> Any:
        """Return y, a matrix or lists, without these labels."""
        if isinstance(y, list):
            none: frozenset[int] = frozenset()
            return [
                [label for label in labels if label not in self.labels_of.get(row, none)]
                for row, labels in enumerate(y)
            ]
        pairs = [(r, label) for r, labels in self.labels_of.items() for label in labels if label < y.shape[1]]
        y = y.tolil()
        for row, label in pairs:
            y[row, label] = 0
        return y.tocsr()

    def best(
        self, labels: NDArray[Any], probabilities: NDArray[Any], k: int
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the k best of the other labels; where there are fewer, -1 with the probability 0."""
        kept, their_probabilities = labels[:, :k].copy(), probabilities[:, :k].copy()
        for row, left_out in self.labels_of.items():
            places = [place for place, label in enumerate(labels[row].tolist()) if label not in left_out][:k]
            kept[row], their_probabilities[row] = -1, 0
            kept[row, : len(places)] = labels[row, places]
            their_probabilities[row, : len(places)] = probabilities[row, places]
        return kept, their_probabilities

    def predicted(self, found: PredictedLabels) -> PredictedLabels:
        """Return predicted labels without these."""
        row_of = np.repeat(np.arange(len(found.indptr) - 1), np.diff(found.indptr)).tolist()
        none: frozenset[int] = frozenset()
        is_kept = np.array(
            [
                label not in self.labels_of.get(row, none)
                for row, label in zip(row_of, found.labels.tolist(), strict=True)
            ],
            dtype=bool,
        )
        n_before = np.concatenate([[0], np.cumsum(is_kept)])
        return PredictedLabels(n_before[found.indptr], found.labels[is_kept], found.probabilities[is_kept])


def _pair(line: str) -> tuple[int, int] | None:
    """Parse a row and a label; return None for a blank line."""
    words = line.split()
    if not words:
        return None
    if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        raise LineError(f"expected 'row label', two numbers from 0, got {line[:40]!r}")
    return int(words[0]), int(words[1])

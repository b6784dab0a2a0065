"""An online tree that answers the calls of the kernel's Forest, with labels in the order users see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree import _native

_Value = TypeVar("_Value", bound=np.generic)


class GrowingForest:
    """Translates between the numbers of labels, by which the tree knows them, and positions in `classes_`."""

    def __init__(self, tree: _native.OnlineTree, position: NDArray[np.int32], n_classes: int) -> None:
        self._tree = tree
        self._position = position
        self._n_classes = n_classes

    def top_k(
        self,
        features: _native.FeatureMatrix,
        threshold: float,
        normalize_siblings: bool,
        beam: int,
        missing_as_zero: bool,
        allowed: NDArray[np.uint8] | None,
        n_threads: int,
        labels: NDArray[np.int32],
        probabilities: NDArray[np.float32],
        evaluations: NDArray[np.int64] | None,
        label_weight: NDArray[np.float64] | None = None,
    ) -> None:
        self._tree.top_k(
            features,
            threshold,
            normalize_siblings,
            beam,
            self._by_number(allowed),
            n_threads,
            labels,
            probabilities,
            evaluations,
            self._by_number(label_weight),
        )
        there = labels >= 0
        labels[there] = self._position[labels[there]]
        if threshold == 0 and not there.all():
            self._fill_up(labels, allowed)

    def _fill_up(self, labels: NDArray[np.int32], allowed: NDArray[np.uint8] | None) -> None:
        """Add columns of y that never had a 1: they have no leaf, and the probability 0."""
        never = np.flatnonzero(self._numbers() < 0)
        if allowed is not None:
            never = never[allowed[never] != 0]
        for row in labels:
            n_found = int((row >= 0).sum())
            n_added = min(len(never), len(row) - n_found)
            row[n_found : n_found + n_added] = never[:n_added]

    def above(
        self,
        features: _native.FeatureMatrix,
        k: int,
        threshold: float,
        label_threshold: NDArray[np.float32] | None,
        normalize_siblings: bool,
        allowed: NDArray[np.uint8] | None,
        n_threads: int,
        evaluations: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        indptr, labels, probabilities = self._tree.above(
            features,
            k,
            threshold,
            self._by_number(label_threshold),
            normalize_siblings,
            self._by_number(allowed),
            n_threads,
            evaluations,
        )
        return indptr, self._position[labels], probabilities

    def pairs(
        self,
        features: _native.FeatureMatrix,
        rows: NDArray[np.int64],
        labels: NDArray[np.int32],
        normalize_siblings: bool,
        n_threads: int,
        probabilities: NDArray[np.float32],
    ) -> None:
        number = self._numbers()[labels]
        known = number >= 0  # a column of y that never had a 1 has no leaf
        found = np.empty(int(known.sum()), dtype=np.float32)
        self._tree.pairs(features, rows[known], number[known], normalize_siblings, n_threads, found)
        probabilities[:] = 0
        probabilities[known] = found

    def enumerate(
        self, features: _native.FeatureMatrix, normalize_siblings: bool, allowed: NDArray[np.uint8] | None
    ) -> Iterator[tuple[int, float]]:
        """The labels of the only row, best first, as the tree is now: it may grow before the last is asked for."""
        _, labels, probabilities = self.above(
            features, self._n_classes, 0.0, None, normalize_siblings, allowed, 1, None
        )
        return zip(labels.tolist(), probabilities.tolist(), strict=True)

    def number_of(self, position: int) -> int:
        """The number of the label at a position of `classes_`, -1 if it has no leaf."""
        return int(self._numbers()[position])

    def _numbers(self) -> NDArray[np.int32]:
        numbers = np.full(self._n_classes, -1, dtype=np.int32)
        numbers[self._position] = np.arange(len(self._position), dtype=np.int32)
        return numbers

    def _by_number(self, values: NDArray[_Value] | None) -> NDArray[_Value] | None:
        return None if values is None else np.ascontiguousarray(values[self._position])

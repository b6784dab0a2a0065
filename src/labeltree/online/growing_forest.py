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
        search: _native.Search,
        labels: NDArray[np.int32],
        probabilities: NDArray[np.float32],
        evaluations: NDArray[np.int64] | None = None,
    ) -> None:
        self._tree.top_k(features, self._by_number(search), labels, probabilities, evaluations)
        there = labels >= 0
        labels[there] = self._position[labels[there]]
        if search.threshold == 0 and not there.all():
            self._fill_up(labels, search.allowed)

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
        search: _native.Search,
        evaluations: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        indptr, labels, probabilities = self._tree.above(features, self._by_number(search), evaluations)
        return indptr, self._position[labels], probabilities

    def pairs(
        self,
        features: _native.FeatureMatrix,
        rows: NDArray[np.int64],
        labels: NDArray[np.int32],
        search: _native.Search,
        probabilities: NDArray[np.float32],
    ) -> None:
        number = self._numbers()[labels]
        known = number >= 0  # a column of y that never had a 1 has no leaf
        found = np.empty(int(known.sum()), dtype=np.float32)
        self._tree.pairs(features, rows[known], number[known], search, found)
        probabilities[:] = 0
        probabilities[known] = found

    def enumerate(
        self, features: _native.FeatureMatrix, search: _native.Search
    ) -> Iterator[tuple[int, float]]:
        """The labels of the only row, best first, as the tree is now: it may grow before the last is asked for."""
        labels = _native.Enumeration(self._tree, features, 0, self._by_number(search))
        return ((int(self._position[label]), p) for label, p in iter(labels.next, None))

    def number_of(self, position: int) -> int:
        """The number of the label at a position of `classes_`, -1 if it has no leaf."""
        return int(self._numbers()[position])

    def _numbers(self) -> NDArray[np.int32]:
        numbers = np.full(self._n_classes, -1, dtype=np.int32)
        numbers[self._position] = np.arange(len(self._position), dtype=np.int32)
        return numbers

    def _by_number(self, search: _native.Search) -> _native.Search:
        """The search with values of labels in the order of their numbers."""

        def ordered(values: NDArray[_Value] | None) -> NDArray[_Value] | None:
            return None if values is None else np.ascontiguousarray(values[self._position])

        return search.replace(
            label_threshold=ordered(search.label_threshold),
            label_weight=ordered(search.label_weight),
            allowed=ordered(search.allowed),
        )

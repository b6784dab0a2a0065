"""`KernelForest`: the questions that forests pass on to the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree._native import Progress
from labeltree.model.forest import RowAnswer, Search, TopAnswer, empty_answer


class KernelForest:
    """A base class for forests whose labels have the same positions in the kernel as in `classes_`."""

    native: Any  # the forest of the kernel

    def top_k(
        self,
        features: Any,
        search: Search,
        evaluations: NDArray[np.int64] | None = None,
        progress: Progress | None = None,
    ) -> TopAnswer:
        labels, probabilities = empty_answer(features.n_rows, search.k)
        self.native.top_k(features, search, labels, probabilities, evaluations, progress)
        return labels, probabilities

    def above(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> RowAnswer:
        found: RowAnswer = self.native.above(features, search, evaluations)
        return found

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        probabilities = np.empty(len(rows), dtype=np.float32)
        self.native.pairs(features, rows, labels, search, probabilities)
        return probabilities

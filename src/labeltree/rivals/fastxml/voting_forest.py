"""Trees over examples that answer the calls of the kernel's Forest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from labeltree import _native


class VotingForest:
    """The calls of `_native.Forest`, with the same meaning.

    What they say of label trees alone has no meaning here: there are no siblings, a row goes one way through a tree, so
    that a beam saves nothing, and a tree that does not speak of a label has said that its probability is 0.
    """

    def __init__(self, forest: _native.ExampleForest, n_labels: int) -> None:
        self._forest = forest
        self._n_labels = n_labels

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
        self._forest.top_k(
            features, threshold, allowed, n_threads, labels, probabilities, evaluations, label_weight
        )

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
        found: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]] = self._forest.above(
            features, k, threshold, label_threshold, allowed, n_threads, evaluations
        )
        return found

    def pairs(
        self,
        features: _native.FeatureMatrix,
        rows: NDArray[np.int64],
        labels: NDArray[np.int32],
        normalize_siblings: bool,
        n_threads: int,
        probabilities: NDArray[np.float32],
    ) -> None:
        self._forest.pairs(features, rows, labels, n_threads, probabilities)

    def enumerate(
        self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None
    ) -> Iterator[tuple[int, float]]:
        """The labels of the only row, best first: all that the trees speak of are known at once, others are 0."""
        labels = np.empty((1, self._n_labels), dtype=np.int32)
        probabilities = np.empty((1, self._n_labels), dtype=np.float32)
        self._forest.top_k(features, 0.0, allowed, 1, labels, probabilities, None)
        n_found = int((labels >= 0).sum())
        return zip(labels[0, :n_found].tolist(), probabilities[0, :n_found].tolist(), strict=True)

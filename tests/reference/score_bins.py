"""Sums of scored pairs in bins, and isotonic regression, by NumPy and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

FloatArray = NDArray[np.float64]


def bin_scores(
    score: FloatArray, positive: NDArray[Any], weight: FloatArray, edges: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, weights of positive pairs, and scores times weights, summed over the pairs of each bin."""
    at = np.searchsorted(edges, score, side="right")
    weight_sum, positive_sum, score_sum = (
        np.bincount(at, values, len(edges) + 1).astype(np.float64)
        for values in (weight, weight * positive, weight * score)
    )
    return weight_sum, positive_sum, score_sum


def pool(value: FloatArray, weight: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """Where the ranges of equal values of isotonic regression begin, and the values."""
    fitted = isotonic_regression(value, sample_weight=weight)
    begin = np.flatnonzero(np.diff(fitted, prepend=-np.inf) > 1e-12)
    return begin, fitted[begin]

"""Centred isotonic regression: a map from scores to probabilities that rises everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

FloatArray = NDArray[np.float64]

#: Scores are put into at most about twice this many bins.
BINS = 200


def fit_knots(
    score: FloatArray, positive: NDArray[np.bool_], weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return scores and probabilities of the knots of the map; it is linear between knots and constant outside.

    Isotonic regression fits the non-decreasing map with the smallest squared error, which is flat over ranges of
    scores. Here every flat range becomes one knot, in the middle of its scores, so that different scores keep
    different probabilities (Oron and Flournoy, 2017). The scores are binned first, which makes it fast. At either end a
    knot is added with a probability that one more pair of the other class would give: no map says 0 or 1.
    """
    middle, positives, mass = _binned(score, positive, weight)
    fitted = isotonic_regression(positives / mass, sample_weight=mass)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(fitted) > 0]))
    total = np.add.reduceat(mass, starts)
    knots = np.add.reduceat(mass * middle, starts) / total
    values = fitted[starts]
    ends = np.array([score.min(), score.max()])
    lowest = min(values[0], 1 / (total[0] + 2)) if values[0] > 0 else 1 / (total[0] + 2)
    highest = max(values[-1], 1 - 1 / (total[-1] + 2)) if values[-1] < 1 else 1 - 1 / (total[-1] + 2)
    knots = np.concatenate([ends[:1], knots, ends[1:]])
    values = np.clip(np.concatenate([[lowest], values, [highest]]), lowest, highest)
    return _distinct(knots, values)


def _binned(
    score: FloatArray, positive: NDArray[np.bool_], weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean score, the positive weight and the weight of bins of scores, in ascending order.

    The bins hold equal shares of the positive scores and of the negative ones.
    """
    shares = np.linspace(0, 1, BINS + 1)
    edges = np.unique(
        np.concatenate([np.quantile(part, shares) for part in (score[positive], score[~positive]) if len(part)])
    )
    at = np.searchsorted(edges, score, side="right")
    mass = np.bincount(at, weight, len(edges) + 1)
    there = mass > 0
    mean = np.bincount(at, weight * score, len(edges) + 1)[there] / mass[there]
    return mean, np.bincount(at, weight * positive, len(edges) + 1)[there], mass[there]


def _distinct(knots: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the knots whose scores differ in single precision, which the kernel computes in."""
    kept = np.concatenate([[True], np.diff(knots.astype(np.float32)) > 0])
    return knots[kept], np.maximum.accumulate(values)[kept]

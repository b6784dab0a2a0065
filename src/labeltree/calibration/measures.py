"""Measures of calibration for pairs of a probability and a 0/1 outcome, with optional weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: The smallest probability of an outcome in a log loss, so that one mistake cannot make the loss infinite.
LEAST_PROBABILITY = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class ReliabilityCurve:
    """Mean probability and frequency of positive outcomes, in bins of the probability.

    Attributes
    ----------
    edges : array of shape (n_bins + 1,)
        Bin i holds probabilities from ``edges[i]`` to below ``edges[i + 1]``; the last bin includes its upper edge.
    mass : array of shape (n_bins,)
        Total weight of the pairs in each bin; without weights, their number.
    probability, frequency : arrays of shape (n_bins,)
        The mean probability of the pairs, and the share of pairs with outcome 1; NaN in an empty bin.
    """

    edges: FloatArray
    mass: FloatArray
    probability: FloatArray
    frequency: FloatArray

    @property
    def expected_calibration_error(self) -> float:
        """The mean over all pairs of the distance between probability and frequency in their bin."""
        there = self.mass > 0
        distance = np.abs(self.probability - self.frequency)[there]
        return float(distance @ self.mass[there] / self.mass.sum())


def reliability_curve(
    outcome: ArrayLike, probability: ArrayLike, *, weight: ArrayLike | None = None, bins: int | ArrayLike = 10
) -> ReliabilityCurve:
    """Compare probabilities with the frequency of positive outcomes, bin by bin.

    Parameters
    ----------
    outcome : array of shape (n_pairs,)
        The outcomes: 0 and 1, or False and True.
    probability : array of shape (n_pairs,)
    weight : array of shape (n_pairs,), optional
        Number of pairs that each pair represents, if they are a sample; 1 by default.
    bins : int or array of shape (n_bins + 1,)
        Number of bins of equal width, or their edges in ascending order from 0 to 1.

    Returns
    -------
    ReliabilityCurve

    Examples
    --------
    >>> from labeltree.calibration import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9], bins=2)
    >>> curve.probability.round(2), curve.frequency.round(2)
    (array([0.2 , 0.85]), array([0.33, 1.  ]))
    """
    positive, given, mass = _pairs(outcome, probability, weight)
    edges = _edges(bins)
    n_bins = len(edges) - 1
    at = np.clip(np.searchsorted(edges, given, side="right") - 1, 0, n_bins - 1)
    total = np.asarray(np.bincount(at, mass, n_bins), dtype=np.float64)
    with np.errstate(invalid="ignore"):  # 0 / 0 in an empty bin
        mean = np.bincount(at, mass * given, n_bins) / total
        frequency = np.bincount(at, mass * positive, n_bins) / total
    return ReliabilityCurve(edges, total, mean, frequency)


def expected_calibration_error(
    outcome: ArrayLike, probability: ArrayLike, *, weight: ArrayLike | None = None, bins: int | ArrayLike = 10
) -> float:
    """Compute the mean distance between probabilities and frequencies: 0 is best, 1 is worst.

    Parameters
    ----------
    outcome, probability, weight, bins
        As for `reliability_curve`.

    Examples
    --------
    >>> from labeltree.calibration import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.9], bins=2), 2)
    0.14
    """
    return reliability_curve(outcome, probability, weight=weight, bins=bins).expected_calibration_error


def log_loss(outcome: ArrayLike, probability: ArrayLike, *, weight: ArrayLike | None = None) -> float:
    """Compute the mean of -log of the probability of the outcome, in nats: smaller is better.

    Probabilities below 1.2e-7 (the precision of float32) count as 1.2e-7.

    Parameters
    ----------
    outcome, probability, weight
        As for `reliability_curve`.

    Examples
    --------
    >>> from labeltree.calibration import log_loss
    >>> round(log_loss([1, 0], [0.8, 0.4]), 3)
    0.367
    """
    positive, given, mass = _pairs(outcome, probability, weight)
    of_outcome = np.where(positive, given, 1 - given)
    return float(mass @ -np.log(np.maximum(of_outcome, LEAST_PROBABILITY)) / mass.sum())


def _pairs(
    outcome: ArrayLike, probability: ArrayLike, weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    outcomes: NDArray[Any] = np.asarray(outcome)
    given = np.asarray(probability, dtype=np.float64)
    mass = np.ones(given.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if not (given.ndim == 1 and outcomes.shape == given.shape == mass.shape):
        raise ValueError(
            "outcome, probability and weight must be 1-d arrays of the same length, got arrays of shape "
            f"{outcomes.shape}, {given.shape} and {mass.shape}"
        )
    for name, values, good, expected in (
        ("outcome", outcomes, (outcomes == 0) | (outcomes == 1), "0 or 1"),
        ("probability", given, (given >= 0) & (given <= 1), "a number from 0 to 1"),
        ("weight", mass, np.isfinite(mass) & (mass >= 0), "a finite number of at least 0"),
    ):
        if not good.all():
            at = int(np.argmin(good))
            raise ValueError(f"{name}, entry {at}: expected {expected}, got {values[at]}")
    if not mass.any():
        raise ValueError("there are no pairs with a weight above 0: there is nothing to measure")
    return outcomes.astype(bool), given, mass


def _edges(bins: int | ArrayLike) -> FloatArray:
    if isinstance(bins, int | np.integer):
        if bins < 1:
            raise ValueError(f"bins must be at least 1, got {bins}")
        return np.linspace(0, 1, int(bins) + 1)
    edges = np.asarray(bins, dtype=np.float64)
    if edges.ndim != 1 or len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
        raise ValueError(
            f"bins must be a number of bins, or their edges, ascending from 0 to 1, got {bins!r}"
        )
    return edges

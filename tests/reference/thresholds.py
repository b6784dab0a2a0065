"""Metrics of decisions, thresholds and OFO once more, on dense arrays, a pair at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Dense = NDArray[np.float64]


def psi(
    coefficients: Callable[[float], tuple[float, ...]], average: str, truth: Dense, predicted: Dense
) -> float:
    """The metric with these coefficients, given the share of positives."""
    fp = ((predicted == 1) & (truth == 0)).mean(axis=0)
    fn = ((predicted == 0) & (truth == 1)).mean(axis=0)
    prior = truth.mean(axis=0)
    if average == "micro":
        fp, fn, prior = (np.array([rate.mean()]) for rate in (fp, fn, prior))
    return float(np.mean([ratio(coefficients(p), x, y) for p, x, y in zip(prior, fp, fn, strict=True)]))


def ratio(coefficients: tuple[float, ...], fp: float, fn: float) -> float:
    a0, a1, a2, b0, b1, b2 = coefficients
    below = b0 + b1 * fp + b2 * fn
    return float((a0 + a1 * fp + a2 * fn) / below) if below else 0.0


def best_value(value: Callable[[Dense, Dense], float], truth: Dense, scores: Dense) -> float:
    """The largest value that one threshold for all labels can have: every score is tried, and none."""
    cuts = [*np.unique(scores[scores > 0]), 2.0]
    return max(value(truth, ((scores >= cut) & (scores > 0)).astype(float)) for cut in cuts)


def best_macro_value(value: Callable[[Dense, Dense], float], truth: Dense, scores: Dense) -> float:
    """The same with a threshold for each label: the mean over labels is largest where each is."""
    columns = [(truth[:, [j]], scores[:, [j]]) for j in range(truth.shape[1])]
    return float(np.mean([best_value(value, *column) for column in columns]))


def fewest_predictions(value: Callable[[Dense, Dense], float], truth: Dense, scores: Dense) -> int:
    """How many predictions the best threshold makes: where several are equally good, the one with the fewest."""
    best = best_value(value, truth, scores)
    decisions = [(scores >= cut) & (scores > 0) for cut in [*np.unique(scores[scores > 0]), 2.0]]
    return min(int(z.sum()) for z in decisions if value(truth, z.astype(float)) >= best - 1e-9)


def ofo_micro(
    beta: float, truth: Dense, scores: Dense, a: float, b: float, epochs: int, unknown: float = 0.0
) -> float:
    """`unknown` is the number of true labels of a row that the model does not know, on average."""
    for _ in range(epochs):
        for y, p in zip(truth, scores, strict=True):
            predicted = (p >= np.float32(a / b)) & (p > 0)
            a += float(np.sum(y * predicted))
            b += float(np.sum(beta**2 * y + predicted)) + beta**2 * unknown
    return a / b


def ofo_macro(beta: float, truth: Dense, scores: Dense, a: float, b: float, epochs: int) -> list[float]:
    columns = range(truth.shape[1])
    return [ofo_micro(beta, truth[:, [j]], scores[:, [j]], a, b, epochs) for j in columns]

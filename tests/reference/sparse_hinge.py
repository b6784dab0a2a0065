"""PPDSparse, literally: the objective of one label, its minimum, and the rows that violate its margin step by step.

Everything is dense and in float64; X has a column for the bias if there is to be one, and `sign` is 1 for the rows that
have the label and -1 for the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]


def objective(w: Array, X: Array, sign: Array, cost: Array, l1: float) -> float:
    """The penalties of the weights and the hinge losses of the rows times their costs."""
    return float(l1 * np.abs(w).sum() + (w**2).sum() / 2 + cost @ np.maximum(1 - sign * (X @ w), 0))


def smallest_objective(X: Array, sign: Array, cost: Array, l1: float) -> float:
    """The minimum, by way of the dual problem: what is found there is never more than it."""
    signed = sign[:, None] * X

    def value(alpha: Array) -> tuple[float, Array]:
        w = shrunk(alpha @ signed, l1)
        return float(w @ w / 2 - alpha.sum()), signed @ w - 1

    alpha = np.zeros(len(X))
    for _ in range(5):  # it stops at kinks, and goes on when it is called again
        bounds = [(0, most) for most in cost]
        found = minimize(value, alpha, jac=True, method="TNC", bounds=bounds, options={"maxfun": 10_000})
        alpha = found.x
    return -float(found.fun)


def shrunk(sums: Array, l1: float) -> Array:
    return np.sign(sums) * np.maximum(np.abs(sums) - l1, 0)


def active_rows(
    X: Array, sign: Array, cost: Array, l1: float, *, searches: int, rounds: int = 10, seed: int = 0
) -> Array:
    """Return the weights after `searches` searches for margin violations, each followed by rounds of dual steps."""
    rng = np.random.default_rng(seed)
    sums, alpha = np.zeros(X.shape[1]), np.zeros(len(X))
    nonzero = [np.flatnonzero(row) for row in X]
    rows = [(at, x[at], x[at] @ x[at]) for x, at in zip(X, nonzero, strict=True)]
    active = set(np.flatnonzero(sign > 0)) | set(rng.integers(len(X), size=64))
    for _ in range(searches):
        for _ in range(rounds):
            for i in rng.permutation(sorted(active)):
                at, x, square = rows[i]
                slope = sign[i] * (shrunk(sums[at], l1) @ x) - 1
                after = min(max(alpha[i] - slope / square, 0), cost[i]) if len(at) > 0 else 0.0
                sums[at] += sign[i] * (after - alpha[i]) * x
                alpha[i] = after
        violation = 1 - sign * (X @ shrunk(sums, l1))
        violation[alpha > 0] = 0
        largest = np.argsort(-violation)[: max(64, np.count_nonzero(alpha))]
        active = set(np.flatnonzero(alpha > 0)) | {i for i in largest if violation[i] > 0}
    return shrunk(sums, l1)


def label_weights(X: Array, has_label: NDArray[np.bool_], C: float, l1: float, *, searches: int) -> Array:
    """[label][feature]; NaN for a label that all rows have, or none."""
    W = np.full((has_label.shape[1], X.shape[1]), np.nan)
    for label, has in enumerate(has_label.T):
        if has.any() and not has.all():
            sign, cost = np.where(has, 1.0, -1.0), np.full(len(X), C)
            W[label] = active_rows(X, sign, cost, l1, searches=searches)
    return W

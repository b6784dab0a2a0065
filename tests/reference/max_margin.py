"""Labels with a margin as Yen et al. write it down: the objective, its minimum, and one example after the other.

Everything is dense and in float64. Rows of W are labels; X has a column for the bias if there is to be one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Matrix = NDArray[np.float64]


def margin_losses(W: Matrix, X: Matrix, y: NDArray[np.bool_]) -> Matrix:
    """Of every row max (1 + w_n.x - w_p.x)_+ over its labels p and the others n; 0 if it lacks one of either."""
    scores = X @ W.T
    losses = [
        max(0.0, 1 + row[~has].max() - row[has].min()) if has.any() and not has.all() else 0.0
        for row, has in zip(scores, y, strict=True)
    ]
    return np.array(losses)


def objective(W: Matrix, X: Matrix, y: NDArray[np.bool_], cost: Matrix, l1: float) -> float:
    """The penalties of the weights and the losses of the rows times their costs."""
    return float(l1 * np.abs(W).sum() + (W**2).sum() / 2 + cost @ margin_losses(W, X, y))


def smallest_objective(X: Matrix, y: NDArray[np.bool_], cost: Matrix, l1: float) -> float:
    """The minimum, as a quadratic program with a slack per row and weights split by their sign."""
    (n_rows, n_features), n_labels = X.shape, y.shape[1]
    n_weights = n_labels * n_features
    constraints = []  # slack_i + (w_p - w_n).x_i >= 1
    for i in range(n_rows):
        for p in np.flatnonzero(y[i]):
            for n in np.flatnonzero(~y[i]):
                row = np.zeros((n_labels, n_features))
                row[p], row[n] = X[i], -X[i]
                slack = np.zeros(n_rows)
                slack[i] = 1
                constraints.append(np.concatenate([row.ravel(), -row.ravel(), slack]))
    A = np.array(constraints).reshape(-1, 2 * n_weights + n_rows)

    def value(v: Matrix) -> tuple[float, Matrix]:
        W = v[:n_weights] - v[n_weights : 2 * n_weights]
        gradient = np.concatenate([l1 + W, l1 - W, cost])
        return float(l1 * v[: 2 * n_weights].sum() + W @ W / 2 + cost @ v[2 * n_weights :]), gradient

    start = np.concatenate([np.zeros(2 * n_weights), np.ones(n_rows)])
    found = minimize(
        value,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * len(start),
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success, found.message
    return float(found.fun)


def projection(
    up: Matrix, down: Matrix, slope_up: Matrix, slope_down: Matrix, curvature: float, cost: float
) -> tuple[Matrix, Matrix]:
    """The best new strengths of one example: not negative, with equal sums of at most `cost`."""

    def total(at: Matrix, shift: Matrix) -> Matrix:
        return np.maximum(at[:, None] - shift, 0).sum(axis=0)

    up, down = up - slope_up / curvature, down - slope_down / curvature
    # Sums are straight lines between these points, so interpolation is exact.
    shift = np.sort(np.concatenate([up, -down]))
    balance = np.interp(0, total(down, -shift) - total(up, shift), shift)
    if total(up, np.array([balance]))[0] <= cost:
        return np.maximum(up - balance, 0), np.maximum(down + balance, 0)
    bounded = []
    for at in (up, down):
        shift = np.sort(np.append(at, at.min() - cost))
        bounded.append(np.maximum(at - np.interp(-cost, -total(at, shift), shift), 0))
    return bounded[0], bounded[1]


def fully_corrective(
    X: Matrix,
    y: NDArray[np.bool_],
    cost: Matrix,
    l1: float,
    *,
    passes: int,
    corrections: int = 1,
    seed: int = 0,
) -> Matrix:
    """Fully corrective block-coordinate Frank-Wolfe: W after `passes` passes over the rows.

    A row in its turn takes in the label that violates its margin most, and its own that are part of a violation; then
    all labels that it has taken in step together. Passes without anything taken in follow.
    """
    rng = np.random.default_rng(seed)
    V = np.zeros((y.shape[1], X.shape[1]))
    nonzero = [np.flatnonzero(row) for row in X]
    rows = [i for i in range(len(X)) if y[i].any() and not y[i].all() and cost[i] > 0 and len(nonzero[i]) > 0]
    strength: list[dict[int, float]] = [{} for _ in X]
    for turn in range(passes * (1 + corrections)):
        for i in rng.permutation(rows):
            x, at, mine = X[i, nonzero[i]], nonzero[i], strength[i]
            sums = V[:, at]
            scores = (np.sign(sums) * np.maximum(np.abs(sums) - l1, 0)) @ x
            if turn % (1 + corrections) == 0:
                worst = rng.permutation(np.flatnonzero(~y[i] & (scores == scores[~y[i]].max())))[0]
                lacking = np.flatnonzero(y[i] & (1 + scores[worst] > scores))
                if len(lacking) > 0:
                    for label in (worst, *lacking):
                        mine.setdefault(int(label), 0.0)
            ups = [label for label in mine if y[i, label]]
            downs = [label for label in mine if not y[i, label]]
            if not ups or not downs:
                continue
            before = np.array([mine[label] for label in (*ups, *downs)])
            new_up, new_down = projection(
                before[: len(ups)], before[len(ups) :], scores[ups] - 1, -scores[downs], x @ x, cost[i]
            )
            after = np.concatenate([new_up, new_down])
            step = (after - before) * np.repeat([1, -1], [len(ups), len(downs)])
            V[np.ix_([*ups, *downs], at)] += np.outer(step, x)
            strength[i] = {
                label: float(size) for label, size in zip((*ups, *downs), after, strict=True) if size > 0
            }
    return np.sign(V) * np.maximum(np.abs(V) - l1, 0)

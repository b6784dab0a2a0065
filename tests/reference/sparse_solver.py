"""The problem of a node with the penalty |w|_1, in float64, and liblinear's solution of it."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.reference.solver import NodeProblem


def sparse_objective(problem: NodeProblem, w: NDArray[np.float64], loss: str, C: float) -> float:
    return float(problem.objective(w, loss, C) - w @ w / 2 + np.abs(w).sum())


def sparse_solution(problem: NodeProblem, loss: str, C: float) -> NDArray[np.float64]:
    if loss == "squared_hinge":
        other = LinearSVC(
            penalty="l1", dual=False, C=C, fit_intercept=False, tol=1e-6, max_iter=1_000_000, random_state=0
        )
    else:
        other = LogisticRegression(
            penalty="l1", l1_ratio=1, solver="liblinear", C=C, fit_intercept=False, tol=1e-7, max_iter=10_000,
            random_state=0,
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # l1_ratio is to replace penalty
        other.fit(problem.X, problem.z, sample_weight=problem.weight)
    return np.asarray(other.coef_[0])

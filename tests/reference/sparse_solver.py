"""The problem of a node with the penalty |w|_1, in float64, and liblinear's solution of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
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
        other = liblinear_logistic(True, C=C, tol=1e-7, max_iter=10_000, random_state=0)
    other.fit(problem.X, problem.z, sample_weight=problem.weight)
    return np.asarray(other.coef_[0])


def liblinear_logistic(l1: bool, **parameters: Any) -> LogisticRegression:
    """Logistic regression without a bias of its own; newer versions say by l1_ratio what older ones do by penalty."""
    newer = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
    penalty = {"l1_ratio": float(l1)} if newer else {"penalty": "l1" if l1 else "l2"}
    return LogisticRegression(**penalty, solver="liblinear", fit_intercept=False, **parameters)

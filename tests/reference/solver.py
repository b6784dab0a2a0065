"""What a node classifier minimises, in float64, and who else can minimise it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC
from tests.reference.assignment import training_sets

from labeltree.trees import LabelTree

LOSSES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "logistic": lambda margin: np.logaddexp(0, -margin),
    "squared": lambda margin: (1 - margin) ** 2,
    "exponential": lambda margin: np.exp(-margin),
}


@dataclass(frozen=True)
class NodeProblem:
    """Minimise |w|^2 / 2 + C * sum_i weight_i * loss(z_i * w.x_i), z_i = 1 or -1."""

    node: int
    X: sp.csr_matrix
    z: NDArray[np.float64]
    weight: NDArray[np.float64]

    def objective(self, w: NDArray[np.float64], loss: str, C: float) -> float:
        margin = self.z * (self.X @ w)
        return float(w @ w / 2 + C * (self.weight * LOSSES[loss](margin)).sum())

    def optimum(self, loss: str, C: float) -> float:
        """The value that liblinear reaches; for the losses it lacks, ridge regression or L-BFGS."""
        return self.objective(self._solution(loss, C), loss, C)

    def _solution(self, loss: str, C: float) -> NDArray[np.float64]:
        if loss == "exponential":
            return self._quasi_newton_solution(C)
        if loss == "squared_hinge":
            other = LinearSVC(C=C, fit_intercept=False, tol=1e-6, max_iter=1_000_000, random_state=0)
        elif loss == "logistic":
            other = LogisticRegression(
                C=C, fit_intercept=False, solver="liblinear", tol=1e-8, max_iter=100_000
            )
        else:
            # (1 - z s)^2 = (z - s)^2, as z is 1 or -1.
            other = Ridge(alpha=1 / (2 * C), fit_intercept=False, solver="cholesky")
        other.fit(self.X.toarray() if loss == "squared" else self.X, self.z, sample_weight=self.weight)
        return np.ravel(other.coef_)

    def _quasi_newton_solution(self, C: float) -> NDArray[np.float64]:
        def value_and_gradient(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            losses = self.weight * np.exp(-self.z * (self.X @ w))
            return w @ w / 2 + C * losses.sum(), w - C * (self.X.T @ (self.z * losses))

        start = np.zeros(self.X.shape[1])
        limits = {"maxiter": 10_000, "maxfun": 100_000, "ftol": 1e-14, "gtol": 1e-9}
        return minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=limits).x


def node_problems(
    tree: LabelTree,
    X: sp.csr_matrix,
    y: sp.csr_matrix,
    *,
    normalize: bool,
    bias: bool,
    sample_weight: NDArray[np.float64] | None = None,
    label_weight: NDArray[np.float64] | None = None,
) -> list[NodeProblem]:
    """The problems of all nodes that have examples of both classes.

    A positive example of a node counts as much as the heaviest of its labels below the node.
    """
    X = X.astype(np.float64)
    if normalize:
        norm = np.sqrt(X.multiply(X).sum(axis=1)).A1
        X = sp.diags(1 / np.where(norm > 0, norm, 1)) @ X
    if bias:
        X = sp.hstack([X, np.ones((X.shape[0], 1))])
    X = X.tocsr()
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    problems = []
    labels = [y[[i]].indices.tolist() for i in range(X.shape[0])]
    for v, examples in enumerate(training_sets(tree, labels)):
        rows = [i for i, _ in examples]
        z = np.array([2.0 * positive - 1 for _, positive in examples])
        node_weight = weight[rows]
        if label_weight is not None:
            below = set(tree.labels_under(v).tolist())
            for at, (i, positive) in enumerate(examples):
                if positive:
                    node_weight[at] *= max(label_weight[label] for label in labels[i] if label in below)
        if len(set(z.tolist())) == 2:
            problems.append(NodeProblem(v, X[rows], z, node_weight))
    return problems

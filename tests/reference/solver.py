"""What a node classifier minimises, in float64, and who else can minimise it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.reference.assignment import training_sets

from labeltree.trees import LabelTree


@dataclass(frozen=True)
class NodeProblem:
    """Minimise |w|^2 / 2 + C * sum_i weight_i * loss(z_i * w.x_i), z_i = 1 or -1."""

    node: int
    X: sp.csr_matrix
    z: NDArray[np.float64]
    weight: NDArray[np.float64]

    def objective(self, w: NDArray[np.float64], loss: str, C: float) -> float:
        margin = self.z * (self.X @ w)
        losses = np.maximum(0, 1 - margin) ** 2 if loss == "squared_hinge" else np.logaddexp(0, -margin)
        return float(w @ w / 2 + C * (self.weight * losses).sum())

    def optimum(self, loss: str, C: float) -> float:
        """The value that liblinear reaches."""
        if loss == "squared_hinge":
            other = LinearSVC(C=C, fit_intercept=False, tol=1e-6, max_iter=1_000_000, random_state=0)
        else:
            other = LogisticRegression(
                C=C, fit_intercept=False, solver="liblinear", tol=1e-8, max_iter=100_000
            )
        other.fit(self.X, self.z, sample_weight=self.weight)
        return self.objective(other.coef_[0], loss, C)


def node_problems(
    tree: LabelTree,
    X: sp.csr_matrix,
    y: sp.csr_matrix,
    *,
    normalize: bool,
    bias: bool,
    sample_weight: NDArray[np.float64] | None = None,
) -> list[NodeProblem]:
    """The problems of all nodes that have examples of both classes."""
    X = X.astype(np.float64)
    if normalize:
        norm = np.sqrt(X.multiply(X).sum(axis=1)).A1
        X = sp.diags(1 / np.where(norm > 0, norm, 1)) @ X
    if bias:
        X = sp.hstack([X, np.ones((X.shape[0], 1))])
    X = X.tocsr()
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    problems = []
    for v, examples in enumerate(training_sets(tree, [y[[i]].indices.tolist() for i in range(X.shape[0])])):
        rows = [i for i, _ in examples]
        z = np.array([2.0 * positive - 1 for _, positive in examples])
        if len(set(z.tolist())) == 2:
            problems.append(NodeProblem(v, X[rows], z, weight[rows]))
    return problems

"""DiSMEC, literally: liblinear for one label after the other, small weights dropped."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC


def solver_of(loss: str, C: float, tol: float) -> Any:
    """What scikit-learn has for a loss. The bias is one more feature, as in liblinear."""
    if loss == "squared_hinge":
        return LinearSVC(
            loss="squared_hinge",
            dual=True,
            C=C,
            tol=tol,
            fit_intercept=False,
            max_iter=1_000_000,
            random_state=0,
        )
    return LogisticRegression(C=C, tol=tol, fit_intercept=False, solver="liblinear", max_iter=100_000)


def label_weights(
    X: sp.csr_matrix,
    y: sp.csr_matrix,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    tol: float = 0.01,
    prune: float = 0.01,
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """[label][feature], the bias last; NaN for a label that all rows have, or none.

    Rows of X are taken as they are: scale them first.
    """
    Z = sp.hstack([X.astype(np.float64), np.ones((X.shape[0], 1))]).tocsr()
    W = np.full((y.shape[1], Z.shape[1]), np.nan)
    for j in range(y.shape[1]):
        has_label = y[:, [j]].toarray().ravel() > 0
        if has_label.any() and not has_label.all():
            solver = solver_of(loss, C, tol).fit(Z, has_label, sample_weight=sample_weight)
            W[j] = solver.coef_.ravel()
            W[j, :-1][np.abs(W[j, :-1]) < prune] = 0
    return W


def scores(W: NDArray[np.float64], X: sp.csr_matrix) -> NDArray[np.float64]:
    """[row][label]: what labels are ranked by."""
    return X.astype(np.float64) @ W[:, :-1].T + W[:, -1]

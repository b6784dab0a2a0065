"""What tests of one classifier per label ask of weights and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.reference.search import decoded

from labeltree import OneVsRestClassifier


def weights_of(model: OneVsRestClassifier) -> np.ndarray:
    """[label][feature], the bias last."""
    W, bias = decoded(model.weights_[0], model.n_features_in_)
    return np.hstack([W, bias[:, None]])[1:]


def with_bias(X: Any) -> np.ndarray:
    """Rows with the bias as their last feature."""
    return np.hstack([X.toarray() if sp.issparse(X) else X, np.ones((X.shape[0], 1))]).astype(np.float64)


def hits(scores: np.ndarray, y: Any, k: int) -> float:
    """The share of the k best labels that are right."""
    best = np.argsort(-scores, axis=1)[:, :k]
    return float(np.take_along_axis(y.toarray(), best, 1).mean())

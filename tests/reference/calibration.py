"""Examples whose probabilities are known, and the nodes of a calibrated model as its arrays say they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.reference.search import decoded, normalized

from labeltree import LabelTree, LabelTreeClassifier


def mapped_probabilities(
    model: LabelTreeClassifier, x: NDArray[np.float64], tree: int = 0
) -> NDArray[np.float64]:
    """eta(x, v) of all nodes, by the calibration of the model instead of its link."""
    weights = model.weights_[tree]
    W, bias = decoded(weights, len(x))
    score, level = W @ x + bias, weights.tree.depth_of_node
    eta = np.array([model.calibration_.probability(s, at, tree) for s, at in zip(score, level, strict=True)])
    return normalized(weights.tree, eta) if model.normalize_siblings else eta


class KnownWorld:
    """Every row has one of eight labels, at the leaves of a binary tree.

    Of two siblings one has the score s, the other -s, and they have the probabilities sigmoid(gain * s) and
    sigmoid(gain * -s), the gain depending on their level. A model with these scores and any link ranks siblings
    right, but only by maps of these gains are its probabilities right.
    """

    def __init__(self, gains: Sequence[float], seed: int = 0, n_features: int = 6) -> None:
        self.tree = LabelTree.from_nested([[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
        rng = np.random.default_rng(seed)
        self.W = np.zeros((self.tree.n_nodes, n_features))
        for v in self.tree.inner_nodes:
            left, right = self.tree.children(v)
            self.W[left] = rng.normal(size=n_features) / np.sqrt(n_features)
            self.W[right] = -self.W[left]
        self.gains = np.array([0.0, *gains])

    def model(self, link: str) -> LabelTreeClassifier:
        bias = np.zeros(self.tree.n_nodes)
        bias[0] = 1000.0  # as trained, if all rows have a label
        weights = tree_weights(self.tree, self.W.astype(np.float32), bias.astype(np.float32))
        return hand_made_classifier([weights], self.W.shape[1], link)

    def marginals(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(label | x) of all rows and labels."""
        eta = 1 / (1 + np.exp(-self.gains[self.tree.depth_of_node] * (X @ self.W.T)))
        p = np.ones_like(eta)
        for v in range(1, self.tree.n_nodes):
            p[:, v] = p[:, self.tree.parent[v]] * eta[:, v]
        return p[:, self.tree.leaf_of_label]

    def sample(self, n_rows: int, seed: int) -> tuple[NDArray[np.float32], sp.csr_matrix]:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, self.W.shape[1])).astype(np.float32)
        cumulated = np.cumsum(self.marginals(X), axis=1)
        label = (rng.random((n_rows, 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)
        return X, sp.csr_matrix((np.ones(n_rows), (np.arange(n_rows), label)), shape=(n_rows, 8))

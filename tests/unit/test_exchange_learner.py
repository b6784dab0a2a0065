"""A learner of its own, in NumPy, that learns through the exchange alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labeltree import LabelTree
from labeltree.exchange import node_targets, pair_probabilities, search_topk

TREE = LabelTree.from_nested([[[0, 1], [2, 3]], [[4, 5], [6, 7]], [8, 9]])


def made_up(n_rows: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], list[list[int]]]:
    """Rows with two labels each, a noisy sum of their labels' directions."""
    directions = np.random.default_rng(0).normal(size=(TREE.n_labels, 30))
    labels = np.stack([rng.permutation(TREE.n_labels)[:2] for _ in range(n_rows)])
    return directions[labels].sum(axis=1) + 0.3 * rng.normal(size=(n_rows, 30)), labels.tolist()


def test_stochastic_gradient_descent_on_node_vectors() -> None:
    rng = np.random.default_rng(1)
    X, y = made_up(1500, rng)
    W, bias = np.zeros((TREE.n_nodes, 30)), np.zeros(TREE.n_nodes)
    for _ in range(5):
        for batch in np.array_split(rng.permutation(len(X)), 60):
            targets = node_targets(TREE, [y[i] for i in batch])
            x = X[batch][targets.row]
            error = expit((x * W[targets.node]).sum(axis=1) + bias[targets.node]) - targets.target
            np.subtract.at(W, targets.node, 0.02 * error[:, np.newaxis] * x)
            np.subtract.at(bias, targets.node, 0.02 * error)

    X_test, y_test = made_up(200, rng)

    def score(rows: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        return (X_test[rows] * W[nodes]).sum(axis=1) + bias[nodes]

    labels, probabilities = search_topk(TREE, score, 2, n_rows=len(X_test), link="sigmoid")
    right = [len(set(found) & set(true)) / 2 for found, true in zip(labels.tolist(), y_test, strict=True)]
    assert np.mean(right) > 0.95  # by chance: 0.2
    rows = np.repeat(np.arange(len(X_test)), 2)
    walked = pair_probabilities(TREE, score, rows, labels.ravel(), link="sigmoid")
    np.testing.assert_array_equal(walked, probabilities.ravel())

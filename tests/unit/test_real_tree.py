"""A tree of real labels: every node optimal, every search exact, and most of the tree never asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel import kernel_probabilities
from tests.reference.search import decoded, label_marginals, predict_top_labels
from tests.reference.solver import node_problems

from labeltree import LabelTreeClassifier
from labeltree.datasets import load_tate

SHAPE: dict[str, Any] = {
    "arity": 4, "max_leaves": 20, "frequent_share": 0.0, "weights": "float32", "random_state": 0, "n_jobs": 2
}  # fmt: skip


@pytest.fixture(scope="module")
def artworks() -> tuple[Any, Any, Any]:
    """Training rows, their labels (those that occur), and rows to ask about."""
    tate = load_tate().to_matrices()
    y = tate.y_train[:400]
    return tate.X_train[:400], y[:, np.unique(y.indices)], tate.X_test[:100]


@pytest.mark.parametrize(("loss", "C"), [("squared_hinge", 1.0), ("logistic", 8.0)])
def test_every_node_is_as_good_as_liblinear(artworks: tuple[Any, Any, Any], loss: str, C: float) -> None:
    X, y, _ = artworks
    model = LabelTreeClassifier(loss=loss, C=C, tol=1e-4, max_iter=10_000, prune=0.0, **SHAPE).fit(X, y)
    assert model.tree_.depth >= 4
    assert model.training_report_[0]["n_unconverged"] == 0
    W, bias = decoded(model.weights_[0], X.shape[1])
    W = np.hstack([W, bias[:, None]])
    problems = node_problems(model.tree_, X, y, normalize=True, bias=True)
    assert len(problems) > 1000
    for problem in problems:
        assert problem.objective(W[problem.node], loss, C) <= problem.optimum(loss, C) * (1 + 1e-4)


@pytest.mark.parametrize("frequent_share", [0.0, 0.01])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_every_search_is_exact(artworks: tuple[Any, Any, Any], loss: str, frequent_share: float) -> None:
    X, y, X_new = artworks
    model = LabelTreeClassifier(loss=loss, **{**SHAPE, "frequent_share": frequent_share}).fit(X, y)
    labels, probabilities, evaluations = model.predict_topk(X_new, k=5, return_evaluations=True)
    above = model.predict_proba(X_new, top_k=None, threshold=0.05)
    rows = X_new.toarray()
    for i in range(X_new.shape[0]):
        eta = kernel_probabilities(model, rows, i)
        p = label_marginals(model.tree_, eta)
        np.testing.assert_array_equal(probabilities[i], np.sort(p)[::-1][:5])
        np.testing.assert_array_equal(p[labels[i]], probabilities[i])
        assert above[[i]].indices.tolist() == np.flatnonzero(p >= np.float32(0.05)).tolist()
        best, cost = predict_top_labels(model.tree_, eta, 5)
        assert [q for _, q in best] == probabilities[i].tolist()
        assert evaluations[i] <= cost
    # 400 examples: one in a hundred is four of them, and many labels are that frequent.
    assert evaluations.mean() < model.tree_.n_nodes / (2 if frequent_share else 4)

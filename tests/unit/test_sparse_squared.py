"""Sparse weights for the squared loss: liblinear has none, so the conditions of the optimum are the judge."""

from __future__ import annotations

import numpy as np
import pytest
from tests.documents import documents
from tests.reference.search import decoded
from tests.reference.solver import node_problems

from labeltree import LabelTreeClassifier

pytestmark = pytest.mark.native


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("bias", [True, False])
def test_every_node_is_optimal(C: float, bias: bool) -> None:
    """The slope of the losses is 1 against a weight that is not 0, and at most 1 where it is."""
    X, y = documents(200, 40, 10, seed=3)
    model = LabelTreeClassifier(
        penalty="l1", loss="squared", C=C, bias=bias, tol=1e-4, max_iter=5000, prune=0.0, frequent_share=0.0,
        max_leaves=4, random_state=0, weights="float32",
    ).fit(X, y)  # fmt: skip
    W, biases = decoded(model.weights_[0], X.shape[1])
    if bias:
        W = np.hstack([W, biases[:, None]])
    problems = node_problems(model.tree_, X, y, normalize=True, bias=bias)
    assert len(problems) > 5
    for problem in problems:
        w = W[problem.node]
        residual = problem.z * (problem.X @ w) - 1
        slope = problem.X.T @ (2 * C * problem.weight * residual * problem.z)
        assert 0 < np.count_nonzero(w) < len(w)
        np.testing.assert_allclose(slope[w != 0], -np.sign(w[w != 0]), atol=0.05)
        assert np.abs(slope[w == 0]).max() <= 1.05

"""Training with the default parameters on data that leave nothing to choose C or to calibrate by, or very little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.documents import documents

from labeltree import LabelTreeClassifier

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("error")]

N_ROWS = 1_200
SHAPE: dict[str, Any] = {"arity": 4, "max_leaves": 4, "random_state": 0}


def probabilities_of(model: LabelTreeClassifier, X: Any) -> np.ndarray:
    found = model.predict_topk(X, k=2).probabilities
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= 1).all()
    return found


@pytest.mark.parametrize("parameters", [{}, {"C": 1.0}, {"loss": "logistic"}, {"n_trees": 2}, {"rerank": 2}])
@pytest.mark.parametrize("n_labels", [2, 30])
def test_labels_that_every_row_has_are_certain(n_labels: int, parameters: dict[str, Any]) -> None:
    X, _ = documents(N_ROWS, 100, 10)
    model = LabelTreeClassifier(**SHAPE, **parameters).fit(X, np.ones((N_ROWS, n_labels), dtype=int))
    np.testing.assert_allclose(probabilities_of(model, X), 1.0, atol=1e-3)


def test_trees_that_leave_nothing_to_try_are_added() -> None:
    X, _ = documents(N_ROWS, 100, 10)
    y = np.ones((N_ROWS, 5), dtype=int)
    model = LabelTreeClassifier(**SHAPE).fit(X, y).add_trees(X, y)
    assert model.C_ == 1.0
    np.testing.assert_allclose(probabilities_of(model, X), 1.0, atol=1e-3)


@pytest.mark.parametrize("n_weighted", [1, 20, 150])
@pytest.mark.parametrize("parameters", [{}, {"C": 1.0}, {"rerank": 5}])
def test_rows_of_weight_0_are_no_evidence(n_weighted: int, parameters: dict[str, Any]) -> None:
    X, y = documents(N_ROWS, 100, 30)
    weight = (np.arange(N_ROWS) < n_weighted).astype(float)
    probabilities_of(LabelTreeClassifier(**SHAPE, **parameters).fit(X, y, sample_weight=weight), X)


@pytest.mark.parametrize("scale", [100.0, 1e3, 1e4, 1e30])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared"])
def test_a_few_huge_rows_have_bounded_scores(loss: str, scale: float) -> None:
    X, y = documents(N_ROWS, 100, 30, unlabelled=0.1)
    rows = X.toarray().astype(np.float64)
    rows[::7] *= scale
    model = LabelTreeClassifier(**SHAPE, loss=loss, normalize=False, prune=0.0).fit(rows, y)
    probabilities_of(model, rows)


@pytest.mark.parametrize(("loss", "default"), [("squared_hinge", 1.0), ("logistic", 8.0)])
def test_without_a_positive_pair_to_judge_by_the_default_stays(loss: str, default: float) -> None:
    X, _ = documents(N_ROWS, 100, 10)
    y = np.zeros((N_ROWS, 2), dtype=int)
    y[0] = 1
    model = LabelTreeClassifier(**SHAPE, loss=loss).fit(X, y)
    np.testing.assert_array_equal(model.C_, default)
    probabilities_of(model, X)

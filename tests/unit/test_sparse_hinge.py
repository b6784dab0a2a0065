"""Few weights for every label, from few rows: the minimum of what is minimised, and what all of 1-vs-all can do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from tests.documents import documents
from tests.flat_models import hits, weights_of, with_bias
from tests.reference.sparse_hinge import label_weights, objective, smallest_objective

from labeltree import OneVsRestClassifier
from labeltree.training import column_plan

pytestmark = pytest.mark.native

PRECISE: dict[str, Any] = {"tol": 1e-5, "max_iter": 5000, "prune": 0.0}


def trained(X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> OneVsRestClassifier:
    fixed = {"solver": "sparse", "weights": "float32", "random_state": 0}
    return OneVsRestClassifier(**{**fixed, **parameters}).fit(X, y, sample_weight=sample_weight)


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:l1=.* left no weight")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_the_objective_is_the_smallest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Of many rows not all are active from the start.
    n_rows = rng.choice([2, 3, rng.integers(4, 12), 400])
    n_features, n_labels = rng.integers(1, 5), rng.integers(2, 6)
    X = rng.standard_normal((n_rows, n_features)).astype(np.float32)
    y = rng.random((n_rows, n_labels)) < 0.4
    y[0], y[1] = True, False
    C, l1 = 10 ** rng.uniform(-1, 1), rng.choice([0, 0.01, 0.1, 0.5])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows)
    weight[:2], bias = 1, bool(rng.integers(2))
    model = trained(X, y, C=C, l1=l1, bias=bias, sample_weight=weight, normalize=False, **PRECISE)
    rows, cost = with_bias(X) * ([1] * n_features + [bias]), C * weight
    for w, has in zip(weights_of(model), y.T, strict=True):
        sign = np.where(has, 1.0, -1.0)
        smallest = smallest_objective(rows, sign, cost, l1)
        assert objective(w, rows, sign, cost, l1) == pytest.approx(smallest, rel=1e-3, abs=1e-4)


def test_without_l1_it_is_the_support_vector_machine_of_liblinear() -> None:
    X, y = documents(2500, 80, 40, seed=1)  # more rows than are scored at a time
    model = trained(X, y, l1=0.0, C=0.5, **PRECISE)
    assert model.training_report_[0]["n_unconverged"] == 0
    W, rows = weights_of(model), with_bias(normalize(X))
    for label in np.flatnonzero(y.sum(axis=0).A1 > 0):
        other = LinearSVC(loss="hinge", C=0.5, tol=1e-8, fit_intercept=False, max_iter=1_000_000)
        other.fit(rows, y[:, [label]].toarray().ravel())
        np.testing.assert_allclose(W[label], other.coef_.ravel(), atol=0.02)


@pytest.mark.parametrize("l1", [0.01, 0.1])
def test_as_good_as_the_twin(l1: float) -> None:
    X, y = documents(900, 200, 30, unlabelled=0.05, seed=1)
    X, y, X_test, y_test = X[:400], y[:400], X[400:], y[400:]
    rows, has = with_bias(normalize(X)), y.toarray() > 0
    ours = weights_of(trained(X, y, l1=l1, prune=0.0))
    twin = label_weights(rows, has, 1.0, l1, searches=15)
    for label in range(30):
        sign = np.where(has[:, label], 1.0, -1.0)
        found, expected = (objective(W[label], rows, sign, np.ones(400), l1) for W in (ours, twin))
        assert found == pytest.approx(expected, rel=0.02, abs=0.01 * has[:, label].sum())
    test_rows = with_bias(normalize(X_test))
    for k in (1, 3):
        assert hits(test_rows @ ours.T, y_test, k) > 0.3
        assert abs(hits(test_rows @ ours.T, y_test, k) - hits(test_rows @ twin.T, y_test, k)) <= 0.01


def test_weights_are_repetitions() -> None:
    X, y = documents(120, 60, 12, seed=2)
    times = np.random.default_rng(0).integers(1, 4, size=120)
    repeated = np.repeat(np.arange(120), times)
    weighed = trained(X, y, l1=0.1, sample_weight=times.astype(float), **PRECISE)
    copied = trained(X[repeated], y[repeated], l1=0.1, **PRECISE)
    np.testing.assert_allclose(weights_of(weighed), weights_of(copied), atol=5e-3)
    assert not np.allclose(weights_of(weighed), weights_of(trained(X, y, l1=0.1, **PRECISE)), atol=0.05)


def test_labels_whose_rows_weigh_nothing_end_too() -> None:
    X, y = documents(2000, 100, 8, seed=3)
    y = y.tolil()
    y[7, 0] = 1 - y[7, 0]
    rare = sp.hstack([y, sp.csr_matrix((np.ones(1), ([7], [0])), shape=(2000, 1))]).tocsr()
    almost_all = sp.hstack([rare, sp.csr_matrix(1.0 - rare[:, [8]].toarray())]).tocsr()
    weight = np.ones(2000)
    weight[7] = 0
    model = trained(X, almost_all, sample_weight=weight)
    assert model.training_report_[0]["n_unconverged"] == 0
    assert model.n_iter_ < 30
    found = model.predict_proba(X, top_k=None).toarray()
    assert found[:, 8].max() < 0.5 < found[:, 9].min()


@pytest.mark.parametrize("C", [1e-6, 1e3])
def test_small_and_large_costs_converge(C: float) -> None:
    X, y = documents(300, 100, 20, seed=3)
    report = trained(X, y, C=C, l1=0.0, prune=0.0).training_report_[0]
    assert report["n_unconverged"] == 0
    assert report["n_passes"] < 100


def test_features_that_floats_cannot_square_end_at_once() -> None:
    X = np.full((40, 2), 1e20)
    model = trained(X, [["a"], ["b"]] * 20, l1=0.0, normalize=False, bias=False)
    assert model.training_report_[0]["n_unconverged"] == 2
    assert model.n_iter_ <= 2


def test_rows_without_features_are_no_obstacle() -> None:
    X, y = documents(120, 60, 12, seed=3)
    longer, more = sp.vstack([X, sp.csr_matrix((5, 60))]).tocsr(), sp.vstack([y, y[:5]]).tocsr()
    model = trained(longer, more, l1=0.05, bias=False, **PRECISE)
    assert model.training_report_[0]["n_unconverged"] == 0
    expected = weights_of(trained(X, y, l1=0.05, bias=False, **PRECISE))
    np.testing.assert_allclose(weights_of(model), expected, atol=5e-3)


def test_labels_that_all_rows_have_or_none() -> None:
    X, y = documents(100, 60, 5, seed=4)
    model = trained(X, sp.hstack([y, np.ones((100, 1)), sp.csr_matrix((100, 2))]).tocsr())
    assert model.training_report_[0]["n_columns"] == 5
    assert model.training_report_[0]["n_constant"] == 4  # with the root
    found = model.predict_proba(X, top_k=None).toarray()
    np.testing.assert_array_equal(found[:, 5], 1)
    np.testing.assert_array_equal(found[:, 6:], 0)


def test_dense_features_are_learned_as_sparse_ones_are() -> None:
    X, y = documents(120, 60, 40, seed=5)
    X = normalize(X)
    vectors = np.random.default_rng(0).standard_normal((120, 5)).astype(np.float32) / 4
    expected = trained(sp.hstack([X, vectors]).tocsr(), y, l1=0.05, normalize=False, **PRECISE)
    model = trained((X, vectors), y, l1=0.05, normalize=False, **PRECISE)
    assert model.dense_features_ == (60, 65)
    np.testing.assert_allclose(weights_of(model), weights_of(expected), atol=5e-3)
    assert np.abs(weights_of(model)[:, 60:65]).max() > 0.1


# -- sparsity ----------------------------------------------------------------------------------------------------------


def test_few_weights_from_few_rows() -> None:
    X, y = documents(2000, 300, 100, seed=6)
    before = X.shape[1] * y.shape[1]
    for l1 in (0.01, 0.1, 1.0):
        model = trained(X, y, l1=l1, prune=0.0)
        n_weights = model.weights_[0].n_weights
        assert n_weights == np.count_nonzero(weights_of(model)[:, :-1]) < before
        before = n_weights
    # In one group of labels every search visits all rows; between two of them few step, up to ten times.
    report = trained(X, y[:, :32], l1=0.01).training_report_[0]
    n_searched = report["n_passes"] * X.shape[0]
    assert n_searched < report["n_row_visits"] < 2 * n_searched


def test_a_penalty_that_leaves_nothing_is_told() -> None:
    X, y = documents(100, 60, 5)
    with pytest.warns(UserWarning, match="l1=1e\\+06 left no weight at all: use a smaller l1, or a larger C"):
        model = trained(X, y, l1=1e6)
    assert model.weights_[0].n_weights == 0
    assert model.predict_topk(X, k=2).labels.shape == (100, 2)


# -- the run -----------------------------------------------------------------------------------------------------------


def assert_same(model: OneVsRestClassifier, expected: OneVsRestClassifier) -> None:
    assert model.training_report_ == expected.training_report_
    for name, array in expected.weights_[0].arrays.items():
        np.testing.assert_array_equal(model.weights_[0].arrays[name], array)


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    X, y = documents(500, 100, 300, unlabelled=0.1, seed=8)
    expected = trained(X, y)
    for n_jobs in (2, 7):
        assert_same(trained(X, y, n_jobs=n_jobs), expected)


def test_a_checkpoint_resumes_and_belongs_to_its_penalty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)
    X, y = documents(300, 100, 400, unlabelled=0.1)
    expected = trained(X, y, l1=0.05)
    folder = tmp_path / "run"
    trained(X, y, l1=0.05, checkpoint=folder)
    chunks = sorted(folder.glob("chunk-*"))
    assert len(chunks) > 3
    chunks[1].unlink()
    assert_same(trained(X, y, l1=0.05, checkpoint=folder), expected)
    with pytest.raises(ValueError, match="l1"):
        trained(X, y, l1=0.1, checkpoint=folder)


def test_negatives_of_the_tree() -> None:
    X, y = documents(2500, 200, 60, seed=9)
    X, y, X_test, y_test = X[:2000], y[:2000], X[2000:], y[2000:]
    every, hard = trained(X, y), trained(X, y, negatives="tree", n_negatives=10)
    assert not np.allclose(weights_of(hard), weights_of(every), atol=0.01)
    scores = [model.predict_proba(X_test, top_k=None).toarray() for model in (every, hard)]
    assert abs(hits(scores[0], y_test, 1) - hits(scores[1], y_test, 1)) < 0.05


def test_max_iter_bounds_the_searches() -> None:
    X, y = documents(400, 80, 20, seed=9)
    short, long = trained(X, y, max_iter=1), trained(X, y, tol=0.001)
    assert short.n_iter_ == 1
    assert 0 < short.training_report_[0]["n_unconverged"] <= 20
    assert 1 < long.n_iter_ < 100
    assert long.training_report_[0]["n_unconverged"] == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "logistic"}, "solver 'sparse' does not use loss, got loss='logistic': leave it at "),
        ({"l1": 1e39}, "'l1' must be a finite number of at least 0 and at most 1e+10, got 1e+39"),
        (
            {"solver": "descent", "l1": 0.1},
            "solver 'descent' does not use l1, got l1=0.1: leave it at 0.01, or choose a solver that does: sparse, ",
        ),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        trained(np.eye(3), [["a"], ["b"], []], **parameters)

"""Labels with a margin: the minimum of what is minimised, and few weights and active labels on the way there."""

from __future__ import annotations

import re
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
from tests.reference.max_margin import fully_corrective, objective, smallest_objective

from labeltree import OneVsRestClassifier

pytestmark = pytest.mark.native

PRECISE: dict[str, Any] = {"tol": 1e-6, "max_iter": 5000, "prune": 0.0}


def trained(X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> OneVsRestClassifier:
    fixed = {"solver": "max_margin", "weights": "float32", "random_state": 0}
    return OneVsRestClassifier(**{**fixed, **parameters}).fit(X, y, sample_weight=sample_weight)


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:l1=.* left no weight")
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_the_objective_is_the_smallest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_features, n_labels = rng.integers(2, 9), rng.integers(1, 4), rng.integers(2, 5)
    X = rng.standard_normal((n_rows, n_features)).astype(np.float32)
    y = rng.random((n_rows, n_labels)) < 0.4
    y[:2] = np.eye(n_labels, dtype=bool)[:2]  # a label that is not certain, at least
    C, l1 = 10 ** rng.uniform(-1, 1), rng.choice([0, 0.01, 0.1, 0.5])
    weight = rng.choice([0.0, 0.5, 1.0, 3.0], size=n_rows)
    weight[:2] = 1
    learned = y.any(axis=0) & ~y.all(axis=0)
    model = trained(X, y, C=C, l1=l1, sample_weight=weight, normalize=False, **PRECISE)
    W, rows = weights_of(model)[learned], with_bias(X)
    found = objective(W, rows, y[:, learned], C * weight, l1)
    assert model.training_report_[0]["n_unconverged"] == 0
    assert model.objective_ == pytest.approx(found, rel=1e-4, abs=1e-5)
    smallest = smallest_objective(rows, y[:, learned], C * weight, l1)
    assert found == pytest.approx(smallest, rel=1e-3, abs=1e-4)
    assert found - smallest <= model.duality_gap_ + 1e-5 * (1 + found)


def test_without_l1_it_is_the_machine_of_crammer_and_singer() -> None:
    X, _ = documents(200, 60, 8)
    y = np.random.default_rng(0).integers(0, 6, size=200)
    model = trained(X, y, l1=0.0, bias=False, C=0.5, **PRECISE)
    other = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=0.5, tol=1e-8, max_iter=100_000)
    other.fit(normalize(X), y)
    np.testing.assert_allclose(weights_of(model)[:, :-1], other.coef_, atol=2e-3)


@pytest.mark.parametrize("l1", [0.01, 0.1])
def test_as_good_as_the_twin(l1: float) -> None:
    X, y = documents(900, 200, 30, unlabelled=0.05, seed=1)
    X, y, X_test, y_test = X[:400], y[:400], X[400:], y[400:]
    model = trained(X, y, l1=l1, prune=0.0)
    rows, has = with_bias(normalize(X)), y.toarray() > 0
    twin = fully_corrective(rows, has, np.ones(400), l1, passes=20)
    ours = weights_of(model)
    assert model.duality_gap_ <= 0.01 * 400 * 1.5
    np.testing.assert_allclose(
        objective(ours, rows, has, np.ones(400), l1), objective(twin, rows, has, np.ones(400), l1), rtol=0.02
    )
    test_rows = with_bias(normalize(X_test))
    for k in (1, 3):
        assert hits(test_rows @ ours.T, y_test, k) > 0.3
        assert abs(hits(test_rows @ ours.T, y_test, k) - hits(test_rows @ twin.T, y_test, k)) <= 0.01


def test_weights_are_repetitions() -> None:
    X, y = documents(120, 60, 12, seed=2)
    times = np.random.default_rng(0).integers(0, 4, size=120)
    repeated = np.repeat(np.arange(120), times)
    weighed = trained(X, y, l1=0.1, sample_weight=times.astype(float), **PRECISE)
    copied = trained(X[repeated], y[repeated], l1=0.1, **PRECISE)
    np.testing.assert_allclose(weights_of(weighed), weights_of(copied), atol=2e-3)
    assert not np.allclose(weights_of(weighed), weights_of(trained(X, y, l1=0.1, **PRECISE)), atol=0.05)


def test_rows_that_lack_labels_of_either_kind_teach_nothing() -> None:
    X, y = documents(120, 60, 12, seed=3)
    everything = sp.csr_matrix(np.ones((1, 12)))
    more_X, more_y = sp.vstack([X, X[:5]]).tocsr(), sp.vstack([y, everything, sp.csr_matrix((4, 12))]).tocsr()
    found = weights_of(trained(more_X, more_y, l1=0.05, **PRECISE))
    np.testing.assert_allclose(found, weights_of(trained(X, y, l1=0.05, **PRECISE)), atol=2e-3)


def test_rows_without_features_are_no_obstacle() -> None:
    X, y = documents(120, 60, 12, seed=3)
    longer, more = sp.vstack([X, sp.csr_matrix((5, 60))]).tocsr(), sp.vstack([y, y[:5]]).tocsr()
    model = trained(longer, more, l1=0.05, bias=False, **PRECISE)
    assert model.training_report_[0]["n_unconverged"] == 0
    expected = weights_of(trained(X, y, l1=0.05, bias=False, **PRECISE))
    np.testing.assert_allclose(weights_of(model), expected, atol=2e-3)


def test_labels_that_all_rows_have_or_none() -> None:
    X, y = documents(100, 60, 5, seed=4)
    wide = sp.hstack([y, np.ones((100, 1)), sp.csr_matrix((100, 2))]).tocsr()
    model = trained(X, wide)
    assert model.training_report_[0]["n_columns"] == 5
    assert model.training_report_[0]["n_constant"] == 4  # with the root
    found = model.predict_proba(X, top_k=None).toarray()
    np.testing.assert_array_equal(found[:, 5], 1)
    np.testing.assert_array_equal(found[:, 6:], 0)
    certain = trained(X, wide[:, 5:])
    assert certain.training_report_[0]["n_columns"] == certain.weights_[0].n_weights == 0


def test_dense_features_are_learned_as_sparse_ones_are() -> None:
    X, y = documents(120, 60, 40, seed=5)
    X = normalize(X)
    vectors = np.random.default_rng(0).standard_normal((120, 5)).astype(np.float32) / 4
    expected = trained(sp.hstack([X, vectors]).tocsr(), y, l1=0.05, normalize=False, **PRECISE)
    model = trained((X, vectors), y, l1=0.05, normalize=False, **PRECISE)
    assert model.dense_features_ == (60, 65)
    np.testing.assert_allclose(weights_of(model), weights_of(expected), atol=1e-5)
    assert np.abs(weights_of(model)[:, 60:65]).max() > 0.1


# -- sparsity ----------------------------------------------------------------------------------------------------------


def test_few_weights_and_few_active_labels() -> None:
    X, y = documents(600, 300, 100, seed=6)
    before = X.shape[1] * y.shape[1]
    for l1 in (0.01, 0.1, 1.0):
        model = trained(X, y, l1=l1, prune=0.0)
        n_weights = model.weights_[0].n_weights
        assert n_weights == np.count_nonzero(weights_of(model)[:, :-1]) < before
        before = n_weights
        n_active = model.training_report_[0]["n_active"]
        assert 1 < n_active / X.shape[0] < 15
    assert before < 0.02 * X.shape[1] * y.shape[1]


def test_small_weights_are_dropped() -> None:
    X, y = documents(150, 80, 20, seed=7)
    whole = weights_of(trained(X, y, prune=0.0))
    model = trained(X, y, prune=0.05)
    small = np.abs(whole) < np.float32(0.05)
    small[:, -1] = False  # biases stay
    np.testing.assert_array_equal(weights_of(model), np.where(small, 0, whole))
    assert model.training_report_[0]["n_pruned"] == (small & (whole != 0)).sum() > 0


def test_a_penalty_that_leaves_nothing_is_told() -> None:
    X, y = documents(100, 60, 5)
    with pytest.warns(UserWarning, match="l1=1e\\+06 left no weight at all: use a smaller l1, or a larger C"):
        model = trained(X, y, l1=1e6)
    assert model.weights_[0].n_weights == 0
    assert model.predict_topk(X, k=2).labels.shape == (100, 2)


# -- the run -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_labels", [12, 300])
def test_the_number_of_threads_does_not_change_a_bit(n_labels: int) -> None:
    X, y = documents(500, 100, n_labels, unlabelled=0.1, seed=8)
    X, y = (
        sp.vstack([X] * 5).tocsr(),
        sp.vstack([y] * 5).tocsr(),
    )  # enough for rounds that occupy three threads
    expected = trained(X, y, l1=0.1, max_iter=2)
    for n_jobs in (2, 7):
        model = trained(X, y, l1=0.1, max_iter=2, n_jobs=n_jobs)
        assert model.training_report_ == expected.training_report_
        assert (model.objective_, model.duality_gap_) == (expected.objective_, expected.duality_gap_)
        for name, array in expected.weights_[0].arrays.items():
            np.testing.assert_array_equal(model.weights_[0].arrays[name], array)
    other = trained(X, y, l1=0.1, max_iter=2, random_state=1)
    assert not np.array_equal(other.weights_[0].arrays["bias"], expected.weights_[0].arrays["bias"])


def test_what_was_told_of_one_solver_is_not_told_of_another() -> None:
    X, y = documents(60, 40, 5)
    model = trained(X, y)
    assert model.duality_gap_ > 0
    assert not hasattr(model.set_params(solver="descent").fit(X, y), "duality_gap_")


def test_max_iter_bounds_the_passes() -> None:
    X, y = documents(150, 80, 20, seed=9)
    short, long = trained(X, y, max_iter=2), trained(X, y, tol=0.001)
    assert (short.n_iter_, short.training_report_[0]["n_unconverged"]) == (2, 1)
    assert short.training_report_[0]["n_row_visits"] == 2 * 150
    assert 2 < long.n_iter_ < 200
    assert long.training_report_[0]["n_unconverged"] == 0
    assert 0 <= long.duality_gap_ < short.duality_gap_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, "'solver' must be one of 'descent', 'sparse', 'max_margin', got 'newton'"),
        ({"l1": -0.1}, "'l1' must be a finite number of at least 0 and at most 1e+10, got -0.1"),
        ({"loss": "logistic"}, "solver 'max_margin' does not use loss, got loss='logistic': leave it at "),
        ({"checkpoint": "somewhere"}, "solver 'max_margin' does not use checkpoint"),
        ({"negatives": "tree"}, "does not use negatives, got negatives='tree'"),
        (
            {"solver": "descent", "l1": 0.1},
            "does not use l1, got l1=0.1: leave it at 0.01, or choose a solver that ",
        ),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        trained(np.eye(3), [["a"], ["b"], []], **parameters)

"""FastXML and PfastreXML do what was published: step by step as their twins, and as well on the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from tests.documents import documents
from tests.reference import fastxml as twin

from labeltree import FastXMLClassifier, PfastreXMLClassifier, _native, metrics

RNG_SEEDS = st.integers(0, 2**32 - 1)


def label_matrix(seed: int, n_rows: int, n_labels: int) -> sp.csr_matrix:
    rng = np.random.default_rng(seed)
    return sp.csr_matrix((rng.random((n_rows, n_labels)) < rng.random(n_labels) / 2).astype(float))


def split(y: sp.csr_matrix, row_gain: Any, label_gain: Any, start: Any) -> Any:
    positive = start.astype(np.uint8)
    _native.split_by_ranking(
        y.indptr.astype(np.int64), y.indices.astype(np.int32), y.shape[1], row_gain, label_gain, positive
    )
    return positive.astype(bool)


@pytest.mark.native
@given(RNG_SEEDS, st.integers(1, 30), st.integers(1, 12), st.booleans())
def test_sides_alternate_as_in_the_twin(seed: int, n_rows: int, n_labels: int, weighted: bool) -> None:
    y, rng = label_matrix(seed, n_rows, n_labels), np.random.default_rng(seed + 1)
    # Worth that sums without rounding: what is equal in one order of summing is in any other.
    row_gain = rng.integers(1, 9, size=n_rows) / 4
    label_gain = rng.integers(1, 9, size=n_labels) / 4 if weighted else None
    start = rng.random(n_rows) < 0.5
    found = split(y, row_gain, label_gain, start)
    worth = y.toarray() * (1 if label_gain is None else label_gain)
    np.testing.assert_array_equal(found, twin.split_by_ranking(worth, row_gain, start))


@pytest.mark.native
def test_rows_without_labels_stay_where_they_are() -> None:
    start = np.array([True, False, True, False])
    y = sp.csr_matrix(np.array([[1.0, 0], [0, 1], [0, 0], [0, 0]]))
    np.testing.assert_array_equal(split(y, np.ones(4), None, start), start)


@pytest.mark.native
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("bias", [True, False])
def test_the_separator_is_that_of_liblinear(C: float, bias: bool) -> None:
    """Two kinds of rows, equally many: from any start that is not quite even the kinds end on a side each."""
    X, _ = documents(150, 40, 6, seed=1)
    kind = np.argsort(np.argsort(X @ np.linspace(-1, 1, 40))) % 150 < 75
    y = sp.csr_matrix(np.column_stack([kind, ~kind]).astype(float))
    model = FastXMLClassifier(
        1, C=C, max_leaf=120, tol=1e-6, max_iter=1000, normalize=False, bias=bias, random_state=0
    )
    arrays = model.fit(X, y).example_trees_.arrays
    features, weights = model.example_trees_.separator(0)
    found = np.zeros(41)
    found[features], found[-1] = weights, arrays["bias"][0]
    weight = np.where(kind, len(kind) / kind.sum(), len(kind) / (~kind).sum())
    exact = LogisticRegression(
        C=C, l1_ratio=1, solver="liblinear", fit_intercept=bias, tol=1e-9, max_iter=5000, random_state=0
    )
    exact.fit(X, kind, sample_weight=weight)
    expected = np.append(exact.coef_[0], exact.intercept_)
    sign = np.sign(found @ expected)
    np.testing.assert_allclose(sign * found, expected, atol=2e-3 * max(1, abs(expected).max()))


def precision(y: sp.csr_matrix, scores: Any) -> float:
    return float(metrics.precision_at_k(y, np.argsort(-scores, axis=1, kind="stable")[:, :1], 1))


@pytest.fixture(scope="module")
def halves() -> tuple[Any, Any, Any, Any]:
    X, y = documents(700, 150, 20, unlabelled=0.02, seed=3)
    return X[:400], y[:400], X[400:], y[400:]


@pytest.mark.parametrize(
    ("ours", "theirs"), [(FastXMLClassifier, twin.FastXML), (PfastreXMLClassifier, twin.PfastreXML)]
)
def test_it_is_as_good_as_the_twin(halves: tuple[Any, Any, Any, Any], ours: Any, theirs: Any) -> None:
    X, y, X_test, y_test = halves
    model = ours(n_trees=10, random_state=0).fit(X, y)
    found = precision(y_test, model.predict_proba(X_test, None).toarray())
    expected = precision(y_test, theirs(10).fit(X, y).scores(X_test))
    most_frequent = float(y_test[:, [int(y.sum(axis=0).argmax())]].mean())
    assert found > expected - 0.03
    assert found > most_frequent + 0.3


@pytest.mark.native
def test_one_leaf_has_the_frequencies_of_labels() -> None:
    X, y = documents(50, 20, 8)
    model = FastXMLClassifier(3, max_leaf=50, random_state=0).fit(X, y)
    expected = np.asarray(y.mean(axis=0)).ravel()
    np.testing.assert_allclose(model.predict_proba(X[:1], None).toarray()[0], expected, rtol=1e-6)
    weight = np.linspace(0, 3, 50)
    weighted = model.fit(X, y, sample_weight=weight).predict_proba(X[:1], None).toarray()[0]
    np.testing.assert_allclose(weighted, weight @ y / weight.sum(), rtol=1e-5)


@pytest.mark.native
def test_a_leaf_keeps_the_most_frequent_labels() -> None:
    X, y = documents(50, 20, 8)
    model = FastXMLClassifier(1, max_leaf=50, leaf_labels=3, random_state=0).fit(X, y)
    frequency = np.asarray(y.mean(axis=0)).ravel()
    kept = np.sort(np.argsort(-frequency, kind="stable")[:3])
    np.testing.assert_array_equal(model.predict_proba(X[:1], None).indices, kept)


def test_probabilities_are_the_average_over_the_leaves(halves: tuple[Any, Any, Any, Any]) -> None:
    X, y, X_test, _ = halves
    model = FastXMLClassifier(7, random_state=1).fit(X, y)
    trees, rows = model.example_trees_, normalize(X_test[:40])
    expected = np.zeros((40, y.shape[1]))
    for i in range(40):
        values = dict(zip(rows[i].indices.tolist(), rows[i].data.tolist(), strict=True))
        for t in range(7):
            leaf = int(trees.arrays["tree_begin"][t])
            for step in trees.splits(t, values):
                leaf = step.child
            labels, probabilities = trees.leaf(leaf)
            expected[i, labels] += probabilities / 7
    np.testing.assert_allclose(model.predict_proba(X_test[:40], None).toarray(), expected, rtol=1e-5)


def test_training_rows_reach_leaves_of_their_own_kind(halves: tuple[Any, Any, Any, Any]) -> None:
    """No leaf is larger than asked for, unless its rows could not be divided; and each row is in one per tree."""
    X, y, _, _ = halves
    model = FastXMLClassifier(1, C=1000.0, max_leaf=5, random_state=0).fit(X, y)
    shape = model.example_trees_.shapes()[0]
    assert shape.n_nodes == 2 * shape.n_leaves - 1
    assert shape.n_leaves > X.shape[0] / 10
    certain = model.predict_topk(X, 1).probabilities
    assert certain[np.diff(y.indptr) > 0].min() >= 1 / 5


# -- PfastreXML ----------------------------------------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("alpha", [0.3, 0.8, 1.0])
@pytest.mark.parametrize("scaled", [True, False])
def test_scores_are_the_published_ones(halves: tuple[Any, Any, Any, Any], alpha: float, scaled: bool) -> None:
    X, y, X_test, _ = halves
    X, X_test = (X, X_test) if scaled else (3 * X, 0.2 * X_test)
    model = PfastreXMLClassifier(4, normalize=scaled, random_state=0).fit(X, y)
    votes = model.set_params(alpha=1.0).predict_proba(X_test, None).toarray()
    counts = np.maximum(np.asarray(y.sum(axis=0)).ravel(), 1)
    means = (y.T @ normalize(X)).toarray() / counts[:, None]
    published = twin.rerank(votes, means, X_test, 30.0, alpha)
    found = model.set_params(alpha=alpha).predict_proba(X_test, None).toarray()
    np.testing.assert_allclose(found, published ** (1 / (1 + (1 - alpha) * 30)), rtol=2e-5)
    best = np.sort(published, axis=1)[:, ::-1]
    top = model.predict_topk(X_test, 5).labels
    np.testing.assert_allclose(np.take_along_axis(published, top, 1), best[:, :5], rtol=2e-4)


def test_labels_far_away_are_told_apart_still() -> None:
    X, y = documents(80, 20, 8)
    model = PfastreXMLClassifier(3, gamma=1e9, random_state=0).fit(X, y)
    scores = model.predict_proba(X, None)
    assert scores.data.min() > 0.001
    assert len(np.unique(scores[0].data)) == scores[0].nnz > 3


def test_trees_weigh_labels_by_their_rarity() -> None:
    X, y = documents(60, 20, 8)
    weight = metrics.inverse_propensity(y, 0.6, 2.6)
    model = PfastreXMLClassifier(
        2, propensity_A=0.6, propensity_B=2.6, max_leaf=60, alpha=1.0, random_state=0
    )
    found = model.fit(X, y).predict_proba(X[:1], None).toarray()[0]
    np.testing.assert_allclose(found, np.asarray(y.mean(axis=0)).ravel() * weight / weight.max(), rtol=1e-5)


def test_rare_labels_are_found_more_often(halves: tuple[Any, Any, Any, Any]) -> None:
    X, y, X_test, y_test = halves
    weight = metrics.inverse_propensity(y)

    def psp(model: Any) -> float:
        top = model.fit(X, y).predict_topk(X_test, 3).labels
        return float(metrics.psprecision_at_k(y_test, top, 3, inverse_propensity=weight))

    assert psp(PfastreXMLClassifier(15, random_state=0)) > psp(FastXMLClassifier(15, random_state=0))


def test_two_rows_are_enough() -> None:
    model = PfastreXMLClassifier(2, random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
    assert model.predict_topk([[1.0, 0.0]], 1).labels.tolist() == [["cat"]]


# -- explanations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", [FastXMLClassifier, PfastreXMLClassifier])
def test_explanations_add_up(halves: tuple[Any, Any, Any, Any], classifier: Any) -> None:
    X, y, X_test, _ = halves
    model = classifier(6, random_state=0).fit(X, y)
    for row in range(5):
        label = int(model.predict_topk(X_test[row], 1).labels[0, 0])
        explanation = model.explain(X_test[row], label, n_features=1000)
        expected = float(model.predict_pairs(X_test[row], [0], [label])[0])
        assert explanation.probability == pytest.approx(expected, rel=1e-4)
        assert len(explanation.paths) == 6
        for path in explanation.paths:
            for step in path[1:]:
                total = step.bias + sum(c.amount for c in step.contributions)
                assert step.score == pytest.approx(total, rel=1e-5, abs=1e-9)
                assert step.score >= 0
            assert all(step.probability == 1 for step in path[:-1])
            n_labels = [step.n_labels for step in path]
            assert n_labels == sorted(n_labels, reverse=True)
        assert str(explanation).count("tree ") >= 6
    assert model.explain(X_test[0], label, n_features=2).paths[0][1].contributions[2:] == ()


def test_an_explained_label_that_no_tree_speaks_of_has_score_0() -> None:
    X, y = documents(80, 20, 8)
    wide = sp.hstack([y, sp.csr_matrix((80, 1))]).tocsr()
    for classifier in (FastXMLClassifier, PfastreXMLClassifier):
        assert classifier(3, random_state=0).fit(X, wide).explain(X[0], 8).probability == 0


def test_what_label_trees_have_and_these_have_not() -> None:
    X, y = documents(80, 20, 8)
    model = FastXMLClassifier(3, random_state=0).fit(X, y)
    for name in ("tree_", "trees_", "weights_", "calibrate", "calibration_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="divide examples, not labels"):
        _ = model.model_.forest.trees


# -- questions -----------------------------------------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("classifier", [FastXMLClassifier, PfastreXMLClassifier])
def test_all_questions_agree(halves: tuple[Any, Any, Any, Any], classifier: Any) -> None:
    X, y, X_test, y_test = halves
    model, n_labels = classifier(6, random_state=0).fit(X, y), y.shape[1]
    scores = model.predict_proba(X_test, None).toarray()
    rows, labels = np.repeat(np.arange(len(scores)), n_labels), np.tile(np.arange(n_labels), len(scores))
    np.testing.assert_array_equal(model.predict_pairs(X_test, rows, labels), scores.ravel())
    order = np.lexsort((np.arange(n_labels), -scores[0]))
    assert list(model.iter_labels(X_test[0])) == [(j, scores[0, j]) for j in order.tolist()]
    allowed = [1, 4, 7, 19]
    assert [label for label, _ in model.iter_labels(X_test[0], allow=allowed)] == [
        j for j in order.tolist() if j in allowed
    ]
    denied = model.predict_topk(X_test, 5, deny=allowed).labels
    assert not np.isin(denied, allowed).any()
    weight = np.random.default_rng(0).integers(0, 3, size=n_labels).astype(float)
    best = np.lexsort((np.tile(np.arange(n_labels), (len(scores), 1)), -(scores.astype(float) * weight)))
    for k in (3, n_labels):
        found = model.predict_topk(X_test, k, label_weight=weight)
        np.testing.assert_array_equal(found.labels, best[:, :k])
        np.testing.assert_array_equal(found.probabilities, np.take_along_axis(scores, best[:, :k], 1))
    assert (model.predict_topk(X_test, 3, return_evaluations=True)[2] > 6).all()
    decided = model.decide_for("micro_f1", X_test, y_test).predict(X_test)
    np.testing.assert_array_equal(decided.toarray(), scores >= np.float32(model.decision_.threshold))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "'n_trees' must be"),
        ({"C": 0}, "'C' must be"),
        ({"max_leaf": 0}, "'max_leaf' must be"),
        ({"leaf_labels": 0}, "'leaf_labels' must be"),
        ({"tol": -1}, "'tol' must be"),
        ({"alpha": 1.5}, "'alpha' must be"),
        ({"gamma": -1}, "'gamma' must be"),
        ({"propensity_A": 0}, "'propensity_A' must be"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PfastreXMLClassifier(**parameters).fit([[1.0], [2.0]], [["a"], ["b"]])


@pytest.mark.parametrize("kind", [FastXMLClassifier, PfastreXMLClassifier])
def test_fit_for_decides_by_rows_set_aside_and_trains_on_all(kind: Any) -> None:
    X, y = documents(300, 60, 12, seed=4)
    model = kind(n_trees=5, random_state=7).fit_for("micro_f1", X, y)
    shuffled = np.random.RandomState(7).permutation(300)
    aside, trained = np.sort(shuffled[:90]), np.sort(shuffled[90:])
    first = kind(n_trees=5, random_state=7).fit(X[trained], y[trained])
    threshold = first.decide_for("micro_f1", X[aside], y[aside]).decision_.threshold
    assert model.decision_.threshold == threshold
    whole = kind(n_trees=5, random_state=7).fit(X, y)
    expected = whole.predict_proba(X, top_k=None).toarray() >= threshold
    np.testing.assert_array_equal(model.predict(X).toarray() > 0, expected)

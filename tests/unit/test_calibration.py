"""Calibration finds the true probabilities, agrees with scikit-learn, and leaves search exact."""

from __future__ import annotations

import pickle
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from tests.documents import documents
from tests.kernel import kernel_probabilities
from tests.reference.calibration import KnownWorld, mapped_probabilities
from tests.reference.search import beam_search, label_marginals, predict_with_thresholds
from tests.small_models import small_data, small_model
from tests.strategies import models_and_rows

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.calibration import (
    Calibration,
    expected_calibration_error,
    log_loss,
    measure_calibration,
    node_pairs,
)
from labeltree.calibration.fitting import CERTAIN_SCORE, fit_sigmoid, fit_steps

METHODS = ("isotonic", "platt")
X, y = small_data(1)


# -- a world with known probabilities --------------------------------------------------------------------

GAINS = (0.5, 4.0, 2.0)


@pytest.fixture(scope="module")
def world() -> KnownWorld:
    return KnownWorld(GAINS)


def all_pairs(model: LabelTreeClassifier, X: np.ndarray) -> np.ndarray:
    rows, labels = np.divmod(np.arange(len(X) * 8), 8)
    return model.predict_pairs(X, rows, labels.tolist()).reshape(-1, 8)


@pytest.mark.native
@pytest.mark.parametrize("link", ["exp4", "clip", "sigmoid"])
@pytest.mark.parametrize("method", METHODS)
def test_probabilities_become_the_true_ones(world, link, method):
    X_valid, y_valid = world.sample(20_000, seed=1)
    X_test, y_test = world.sample(20_000, seed=2)
    model = world.model(link)
    outcome, truth = y_test.toarray().ravel(), world.marginals(X_test)
    before = all_pairs(model, X_test)
    after = all_pairs(model.calibrate(X_valid, y_valid, method=method), X_test)
    bayes = log_loss(outcome, truth.ravel())
    assert log_loss(outcome, before.ravel()) > 1.08 * bayes
    assert log_loss(outcome, after.ravel()) == pytest.approx(
        bayes, rel=0.01 if method == "isotonic" else 0.001
    )
    assert expected_calibration_error(outcome, before.ravel()) > 0.015
    # The error of the true probabilities themselves, on 20,000 rows, is about 0.0015.
    assert expected_calibration_error(outcome, after.ravel()) < 0.004
    assert np.abs(after - truth).mean() < (0.006 if method == "isotonic" else 0.002)


@pytest.mark.native
def test_platt_finds_the_gains_of_all_levels(world):
    model = world.model("exp4").calibrate(*world.sample(20_000, seed=1), method="platt")
    (maps,) = model.calibration_.trees
    # Where x is drawn so, the standard errors are 0.01 to 0.05.
    np.testing.assert_allclose(maps["slope"][1:], GAINS, atol=0.12)
    np.testing.assert_allclose(maps["intercept"][1:], 0, atol=0.03)
    assert maps["slope"][0] == 0
    assert maps["intercept"][0] == pytest.approx(np.log(20_001))


@pytest.mark.native
def test_isotonic_finds_the_sigmoids_of_all_levels(world):
    model = world.model("exp4").calibrate(*world.sample(20_000, seed=1))
    score = np.linspace(-1, 1, 41)
    for level, gain in enumerate(GAINS, start=1):
        truth = 1 / (1 + np.exp(-gain * score))
        np.testing.assert_allclose(model.calibration_.probability(score, level), truth, atol=0.06)


@pytest.mark.native
def test_log_loss_of_nodes_goes_down_on_every_level(world):
    X_test, y_test = world.sample(5000, seed=2)
    model = world.model("exp4")
    before = node_pairs(model, X_test, y_test)
    after = node_pairs(model.calibrate(*world.sample(5000, seed=1)), X_test, y_test)
    for level in (1, 2, 3):
        losses = [
            log_loss(p.outcome[p.group == level], p.probability[p.group == level]) for p in (before, after)
        ]
        assert losses[1] < losses[0]


# -- scikit-learn as judge -------------------------------------------------------------------------------


@st.composite
def weighted_scores(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of both classes, some tied, with whole weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(4, 200))
    score = (rng.normal(size=n) * draw(st.sampled_from([0.1, 1.0, 20.0]))).round(1)
    positive = rng.random(n) < 1 / (1 + np.exp(-draw(st.sampled_from([0.5, 2.0])) * score))
    positive[:2] = [True, False]
    return score, positive, rng.integers(1, 4, n).astype(float)


@given(weighted_scores())
def test_platt_is_that_of_scikit_learn(drawn):
    score, positive, weight = drawn
    n_positive, n_negative = weight @ positive, weight @ ~positive
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # A target between the classes is a bit of both.
    judge = LogisticRegression(C=1e10, tol=1e-8, solver="newton-cholesky").fit(
        np.concatenate([score, score])[:, np.newaxis],
        np.repeat([1, 0], len(score)),
        np.concatenate([weight * target, weight * (1 - target)]),
    )
    slope, intercept = fit_sigmoid(score, positive, weight)
    if judge.coef_[0, 0] > 0:
        expected = judge.predict_proba(score[:, np.newaxis])[:, 1]
        np.testing.assert_allclose(1 / (1 + np.exp(-(slope * score + intercept))), expected, atol=1e-4)
    else:
        assert slope == 0
        assert 1 / (1 + np.exp(-intercept)) == pytest.approx(weight @ target / weight.sum())


@given(weighted_scores())
def test_isotonic_maps_rise_and_never_say_0_or_1(drawn):
    score, positive, weight = drawn
    knots, values = fit_steps(score, positive, weight)
    assert (np.diff(knots) > 0).all()
    assert (np.diff(values) >= 0).all()
    assert values.min() > 0
    assert values.max() < 1


def test_nodes_that_are_constant_do_not_bend_a_sigmoid():
    rng = np.random.default_rng(0)
    score = rng.normal(size=5000)
    positive = rng.random(5000) < 1 / (1 + np.exp(-3 * score))
    alone = fit_sigmoid(score, positive, np.ones(5000))
    with_constants = fit_sigmoid(
        np.concatenate([score, np.full(500, -CERTAIN_SCORE)]),
        np.concatenate([positive, np.arange(500) < 5]),
        np.ones(5500),
    )
    assert with_constants == alone


def test_separable_classes_have_no_steep_sigmoid():
    slope, intercept = fit_sigmoid(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([0, 0, 1, 1], bool), np.ones(4))
    assert 1 / (1 + np.exp(-(slope + intercept))) == pytest.approx(3 / 4)


def test_scores_that_point_the_wrong_way_say_nothing():
    slope, intercept = fit_sigmoid(np.arange(4.0), np.array([1, 1, 0, 0], bool), np.ones(4))
    assert (slope, intercept) == (0, 0)


def test_a_level_that_few_rows_reach_takes_the_map_of_all():
    model = small_model(n_trees=1, random_state=1)
    few = model.calibrate(X[:3], y[:3], method="platt").calibration_.trees[0]
    assert len(set(few["slope"][1:].tolist())) == 1
    assert few["slope"][1] > 0
    assert few["intercept"][0] == pytest.approx(np.log(4))  # three rows, all with labels


# -- search ----------------------------------------------------------------------------------------------


@st.composite
def calibrated_models(draw: st.DrawFn, n_trees: st.SearchStrategy[int] | None = None):
    """Models of any shape with any monotone maps, plateaus and steep ones among them, and rows to ask about."""
    model, rows = draw(models_and_rows(n_trees))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    method = draw(st.sampled_from(METHODS))
    trees = []
    for tree in model.trees_:
        n_levels = tree.depth + 1
        if method == "platt":
            slope = rng.exponential(size=n_levels) * rng.integers(0, 2, n_levels)
            trees.append({"slope": slope, "intercept": rng.normal(size=n_levels)})
            continue
        sizes = rng.integers(1, 9, n_levels)
        knots = [np.sort(rng.choice(np.arange(-30, 30), n, replace=False)) / 10 for n in sizes]
        values = [np.sort(rng.choice([0, 0.01, 0.25, 0.5, 0.9, 1], n)) for n in sizes]
        trees.append(
            {
                "knot_begin": np.cumsum([0, *sizes]),
                "knot_score": np.concatenate(knots),
                "knot_probability": np.concatenate(values),
            }
        )
    arrays = [
        {name: a.astype(np.int64 if name == "knot_begin" else np.float32) for name, a in tree.items()}
        for tree in trees
    ]
    model.calibration_ = Calibration(method, arrays)
    return model, rows


def marginals(model: LabelTreeClassifier, rows: np.ndarray) -> np.ndarray:
    """P(label | x) of all rows and labels, by brute force over the kernel's nodes, for one tree."""
    return np.array(
        [label_marginals(model.tree_, kernel_probabilities(model, rows, i)) for i in range(len(rows))]
    )


@pytest.mark.native
@given(calibrated_models())
def test_the_kernel_applies_the_maps(drawn):
    model, rows = drawn
    for i, x in enumerate(rows.astype(np.float64)):
        expected = mapped_probabilities(model, x)
        found = kernel_probabilities(model, rows, i)
        # Of siblings that are all 0, or not quite, the shares may be anything.
        if model.normalize_siblings and (expected < 1e-3).any():
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.native
@given(calibrated_models(), st.integers(1, 14))
def test_every_search_equals_brute_force(drawn, k):
    model, rows = drawn
    tree = model.tree_
    truth = marginals(model, rows)
    best = -np.sort(-truth, axis=1)[:, :k]
    labels, probabilities = model.predict_topk(rows, k)
    np.testing.assert_array_equal(probabilities[:, : best.shape[1]], best)
    np.testing.assert_array_equal(np.take_along_axis(truth, labels.astype(int), axis=1), best)
    above = model.predict_proba(rows, top_k=None, threshold=0.2).toarray()
    np.testing.assert_array_equal(above, np.where(truth >= np.float32(0.2), truth, 0))
    for i, row in enumerate(rows):
        in_order = [p for _, p in islice(model.iter_labels(row), k)]
        np.testing.assert_array_equal(np.float32(in_order), best[i])
        explained = model.explain(row, int(labels[i, 0]))
        assert explained.probability == pytest.approx(float(best[i, 0]), rel=1e-5)
        eta = kernel_probabilities(model, rows, i)
        assert len(predict_with_thresholds(tree, eta, np.full(tree.n_labels, 0.2))[0]) == (above[i] > 0).sum()
        model.set_params(search="beam", beam=2)
        found, _ = beam_search(tree, eta, k, 2)
        np.testing.assert_array_equal(
            model.predict_topk(row[np.newaxis], k)[1][0][: len(found)], [p for _, p in found]
        )
        model.set_params(search="exact")


@pytest.mark.native
@given(calibrated_models(st.just(2)))
def test_trees_are_averaged_as_calibrated(drawn):
    model, rows = drawn
    n_labels = model.tree_.n_labels
    eta = [
        [label_marginals(model.trees_[t], kernel_probabilities(model, rows, i, t)) for t in range(2)]
        for i in range(len(rows))
    ]
    expected = np.average(np.array(eta, dtype=np.float64), axis=1, weights=model.model_.forest.tree_weight)
    at_row, label = np.divmod(np.arange(len(rows) * n_labels), n_labels)
    found = model.predict_pairs(rows, at_row, label.tolist()).reshape(-1, n_labels)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.native
@pytest.mark.parametrize("method", METHODS)
def test_order_of_siblings_stays(method):
    model = small_model(n_trees=1, loss="logistic")
    before = kernel_probabilities(model, X.toarray(), 0)
    after = kernel_probabilities(model.calibrate(X, y, method=method), X.toarray(), 0)
    for level in model.tree_.levels():
        in_order = after[level][np.argsort(before[level], kind="stable")]
        assert (np.diff(in_order) >= -1e-6).all()


# -- models ----------------------------------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "parameters",
    [
        {"loss": "logistic", "siblings": "joint", "arity": 2, "max_leaves": 2},
        {"normalize_siblings": True},
        {"solver": "sgd"},
        {"n_trees": 3, "tree": "random"},
    ],
    ids=["joint", "normalize_siblings", "incremental", "three trees"],
)
def test_models_of_all_kinds(method, parameters):
    model = small_model(**parameters)
    before = node_pairs(model, X, y)
    model.calibrate(X, y, method=method)
    after = node_pairs(model, X, y)
    assert log_loss(after.outcome, after.probability) < log_loss(before.outcome, before.probability)
    labels, probabilities = model.predict_topk(X, k=12)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_array_equal(
        probabilities[:, 0], model.predict_pairs(X, np.arange(X.shape[0]), labels[:, 0].tolist())
    )


@pytest.mark.native
@pytest.mark.parametrize("normalize_siblings", [False, True])
def test_joint_blocks_are_mapped_from_their_log_odds(normalize_siblings):
    joint = {"loss": "logistic", "siblings": "joint", "arity": 2, "max_leaves": 2, "n_trees": 1}
    model = small_model(**joint, normalize_siblings=normalize_siblings)
    rows = X.toarray()
    before = kernel_probabilities(model, rows, 0).astype(np.float64)
    model.calibrate(X, y, method="platt")
    (maps,), level = model.calibration_.trees, model.tree_.depth_of_node
    clipped = np.clip(before, 1e-6, 1 - 1e-6)
    expected = 1 / (
        1 + np.exp(-(maps["slope"][level] * np.log(clipped / (1 - clipped)) + maps["intercept"][level]))
    )
    found = kernel_probabilities(model, rows, 0)
    if not normalize_siblings:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    for v in model.tree_.inner_nodes:
        children = list(model.tree_.children(v))
        assert not normalize_siblings or found[children].sum() >= 1 - 1e-6


@pytest.mark.native
def test_calibration_is_the_same_for_any_number_of_threads():
    one, three = (small_model(n_jobs=n).calibrate(X, y) for n in (1, 3))
    for a, b in zip(one.calibration_.trees, three.calibration_.trees, strict=True):
        assert all(np.array_equal(a[name], b[name]) for name in a)


def test_calibrating_again_starts_from_scores():
    model = small_model().calibrate(X, y, method="platt")
    once = model.calibration_.trees[0]["slope"]
    assert np.array_equal(model.calibrate(X, y, method="platt").calibration_.trees[0]["slope"], once)


def test_a_calibration_can_be_taken_away():
    model = small_model()
    before = model.predict_topk(X).probabilities
    model.calibrate(X, y)
    assert not np.array_equal(model.predict_topk(X).probabilities, before)
    del model.calibration_
    assert np.array_equal(model.predict_topk(X).probabilities, before)


def test_training_again_removes_the_calibration():
    model = small_model().calibrate(X, y)
    before = small_model().predict_topk(X).probabilities
    assert np.array_equal(model.fit(*small_data(0)).predict_topk(X).probabilities, before)
    assert not hasattr(model, "calibration_")


def test_copies_keep_the_calibration_and_clones_do_not():
    model = small_model().calibrate(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict_topk(X).probabilities, model.predict_topk(X).probabilities)
    assert not hasattr(clone(model), "calibration_")


def test_trees_cannot_be_added_to_calibrated_ones():
    model = small_model().calibrate(X, y)
    with pytest.raises(ValueError, match=r"del model\.calibration_, add them, and calibrate again"):
        model.add_trees(*small_data(0))
    del model.calibration_
    model.add_trees(*small_data(0)).calibrate(X, y)
    assert len(model.calibration_.trees) == 3


def test_frozen_online_models_can_be_calibrated():
    online = OnlineLabelTreeClassifier(random_state=0).fit(X, y)
    assert not hasattr(online, "calibrate")  # its scores would move away from what was fitted
    frozen = online.freeze().calibrate(X, y)
    assert frozen.calibration_.n_levels() == frozen.tree_.depth + 1


def test_other_node_estimators_are_referred_to_scikit_learn():
    model = LabelTreeClassifier(node_estimator=LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="CalibratedClassifierCV"):
        model.calibrate(X, y)


@pytest.mark.parametrize(
    ("y", "method", "message"),
    [
        (y, "beta", "method must be one of 'isotonic', 'platt', got 'beta'"),
        ([[]] * 59 + [["zebra"]], "platt", "y has none of the labels of this model"),
        (sp.csr_matrix((60, 12)), "platt", "y has no label in any row"),
        (y[1:], "platt", "X and y must have the same number of rows"),
    ],
)
def test_what_makes_no_sense_is_refused(y, method, message):
    model = small_model()
    with pytest.raises(ValueError, match=message):
        model.calibrate(X, y, method=method)
    assert not hasattr(model, "calibration_")


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_labels_that_training_did_not_have_are_ignored(method: str) -> None:
    X, _ = documents(60, 20, 6, seed=1)
    y = [["a"] if row % 3 == 0 else ["b", "c"] for row in range(60)]
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    known, others = [*y[:50], *[[]] * 10], [[*labels, "new"] for labels in y[:50]] + [["newer"]] * 10
    expected = clone(model).fit(X, y).calibrate(X, known, method=method)
    found = model.calibrate(X, others, method=method)
    np.testing.assert_array_equal(found.predict_topk(X).probabilities, expected.predict_topk(X).probabilities)
    assert str(measure_calibration(found, X, others)) == str(measure_calibration(expected, X, known))


def test_maps_are_asked_by_level():
    maps = small_model().calibrate(X, y).calibration_
    with pytest.raises(ValueError, match="level must be from 0 to"):
        maps.probability(0.0, maps.n_levels())


def test_constant_nodes_of_both_classes_are_the_ends_of_an_isotonic_map() -> None:
    score = np.array([-CERTAIN_SCORE, -1.0, 0.0, 1.0, CERTAIN_SCORE])
    knots, probabilities = fit_steps(score, score > 0, np.ones(5))
    assert knots[0] == -CERTAIN_SCORE
    assert knots[-1] == CERTAIN_SCORE
    assert (np.diff(knots) > 0).all()
    assert (np.diff(probabilities) >= 0).all()

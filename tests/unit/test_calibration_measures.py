"""The measures of calibration against scikit-learn, and against all pairs where only some are looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss as sklearn_log_loss
from tests.reference.search import label_marginals, node_probabilities
from tests.small_models import N_LABELS, small_data, small_model

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.calibration import (
    expected_calibration_error,
    label_pairs,
    log_loss,
    measure_calibration,
    node_pairs,
    reliability_curve,
)
from labeltree.calibration import scored_pairs as scored_pairs_module
from labeltree.model import linear_forest

X, y = small_data(1)


def pairs_of(seed: int, n: int = 500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, probabilities that are off, and whole weights."""
    rng = np.random.default_rng(seed)
    probability = rng.random(n)
    return rng.random(n) < probability**2, probability, rng.integers(1, 4, n)


# -- of any probabilities --------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 20))
def test_curve_is_that_of_scikit_learn(seed, n_bins):
    outcome, probability, _ = pairs_of(seed)
    frequency, mean = calibration_curve(outcome, probability, n_bins=n_bins)
    curve = reliability_curve(outcome, probability, bins=n_bins)
    there = curve.mass > 0
    np.testing.assert_allclose(curve.frequency[there], frequency)
    np.testing.assert_allclose(curve.probability[there], mean)
    assert np.isnan(curve.frequency[~there]).all()


@given(st.integers(0, 1000))
def test_log_loss_is_that_of_scikit_learn(seed):
    outcome, probability, weight = pairs_of(seed)
    np.testing.assert_allclose(
        log_loss(outcome, probability, weight=weight),
        sklearn_log_loss(outcome, probability, sample_weight=weight, labels=[0, 1]),
    )


@given(st.integers(0, 1000))
def test_a_weight_is_as_good_as_repetition(seed):
    outcome, probability, weight = pairs_of(seed)
    repeated = np.repeat(outcome, weight), np.repeat(probability, weight)
    assert expected_calibration_error(outcome, probability, weight=weight) == pytest.approx(
        expected_calibration_error(*repeated)
    )
    assert log_loss(outcome, probability, weight=weight) == pytest.approx(log_loss(*repeated))


def test_error_by_hand():
    # Two bins: the first says 0.2 on average where a half is true, the second 0.9 where all is.
    outcome, probability = [0, 1, 1], [0.1, 0.3, 0.9]
    assert expected_calibration_error(outcome, probability, bins=[0, 0.5, 1]) == pytest.approx(
        (2 * 0.3 + 1 * 0.1) / 3
    )


def test_probabilities_at_the_edges_have_a_bin():
    curve = reliability_curve([0, 1, 1], [0.0, 0.5, 1.0], bins=2)
    assert curve.mass.tolist() == [1, 2]


def test_a_certain_mistake_is_not_infinite():
    assert log_loss([1], [0.0]) == pytest.approx(-np.log(np.finfo(np.float32).eps))
    assert log_loss([0], [0.0]) == 0


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0.5]), {}, r"of the same length, got arrays of shape \(2,\), \(1,\)"),
        (([[0]], [[0.5]]), {}, "must be 1-d arrays"),
        (([0, 2], [0.5, 0.5]), {}, "outcome, entry 1: expected 0 or 1, got 2"),
        (([0, 1], [0.5, np.nan]), {}, "probability, entry 1: expected a number from 0 to 1, got nan"),
        (([0], [1.5]), {}, "got 1.5"),
        (([0], [0.5]), {"weight": [-1]}, "weight, entry 0: expected a finite number of at least 0, got -1"),
        (([0], [0.5]), {"weight": [0]}, "no pairs with a weight above 0"),
        (([], []), {}, "no pairs"),
        (([0], [0.5]), {"bins": 0}, "bins must be at least 1, got 0"),
        (([0], [0.5]), {"bins": [0, 0.5]}, "ascending from 0 to 1"),
        (([0], [0.5]), {"bins": [0, 0.5, 0.5, 1]}, "ascending from 0 to 1"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        expected_calibration_error(*arguments, **options)


# -- of a model ------------------------------------------------------------------------------------------


def truth(model: LabelTreeClassifier) -> np.ndarray:
    return np.array([[name in row for name in model.classes_] for row in y])


def all_probabilities(model: LabelTreeClassifier) -> np.ndarray:
    """By brute force: of every row and label."""
    rows = X.toarray().astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    marginals = [
        [label_marginals(w.tree, node_probabilities(w, x, model.trained_link())) for w in model.weights_]
        for x in rows
    ]
    return np.mean(marginals, axis=1)


@pytest.mark.native
def test_few_labels_are_all_looked_at():
    model = small_model()
    pairs = label_pairs(model, X, y)
    assert len(pairs) == X.shape[0] * N_LABELS
    assert (pairs.weight == 1).all()
    probability = all_probabilities(model)
    expected = log_loss(truth(model).ravel(), np.clip(probability.ravel(), 0, 1))
    assert log_loss(pairs.outcome, pairs.probability) == pytest.approx(expected, rel=1e-3)


@pytest.mark.native
def test_of_many_unlikely_pairs_a_sample_stands_for_all(monkeypatch):
    monkeypatch.setattr(scored_pairs_module, "LEAST_LIKELY", 0.3)
    model = small_model(loss="logistic")
    full = label_pairs(model, X, y)
    losses = []
    for seed in range(40):
        some = label_pairs(model, X, y, n_unlikely=100, random_state=seed)
        assert len(some) < len(full)
        assert some.weight.sum() == pytest.approx(len(full))
        assert some.outcome.sum() == full.outcome.sum()
        losses.append(log_loss(some.outcome, some.probability, weight=some.weight))
    assert np.mean(losses) == pytest.approx(log_loss(full.outcome, full.probability), rel=0.01)


def nodes_by_brute_force(model: LabelTreeClassifier) -> dict[int, list[tuple[bool, float]]]:
    """Of every level the pairs of a row and a node whose parent is positive."""
    rows = X.toarray().astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found: dict[int, list[tuple[bool, float]]] = {}
    for weights in model.weights_:
        tree = weights.tree
        below = [{model.classes_[label] for label in tree.labels_under(v)} for v in range(tree.n_nodes)]
        for x, names in zip(rows, y, strict=True):
            eta = node_probabilities(weights, x, model.trained_link(), model.normalize_siblings)
            for v in range(tree.n_nodes):
                if v == 0 or below[tree.parent[v]] & set(names):
                    pair = bool(below[v] & set(names)), float(eta[v])
                    found.setdefault(int(tree.depth_of_node[v]), []).append(pair)
    return found


@pytest.mark.native
@pytest.mark.parametrize("normalize_siblings", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_nodes_are_those_that_learn_from_a_row(normalize_siblings, n_jobs):
    model = small_model(normalize_siblings=normalize_siblings, n_jobs=n_jobs)
    pairs = node_pairs(model, X, y)
    expected = nodes_by_brute_force(model)
    assert set(pairs.group.tolist()) == set(expected)
    for level, of_level in expected.items():
        at = pairs.group == level
        got = sorted(zip(pairs.outcome[at].tolist(), pairs.probability[at].tolist(), strict=True))
        np.testing.assert_allclose(got, sorted(of_level), atol=2e-5)


@pytest.mark.native
def test_of_many_negative_nodes_a_sample_stands_for_all(monkeypatch):
    model = small_model(loss="logistic")
    full = node_pairs(model, X, y)
    monkeypatch.setattr(linear_forest, "NEGATIVE_NODES", 200)
    losses = []
    for seed in range(40):
        some = node_pairs(model, X, y, random_state=seed)
        assert len(some) < len(full)
        assert some.outcome.sum() == full.outcome.sum()
        assert some.weight.sum() == pytest.approx(len(full))
        losses.append(log_loss(some.outcome, some.probability, weight=some.weight))
    assert np.mean(losses) == pytest.approx(log_loss(full.outcome, full.probability), rel=0.02)


@pytest.mark.native
def test_samples_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(linear_forest, "NEGATIVE_NODES", 200)
    one, three = (node_pairs(small_model(n_jobs=n), X, y) for n in (1, 3))
    assert np.array_equal(one.probability, three.probability)


def test_node_estimators_are_judged_too():
    model = LabelTreeClassifier(
        node_estimator=LogisticRegression(), arity=2, max_leaves=3, random_state=0, frequent_share=0.0
    ).fit(X, y)
    pairs = node_pairs(model, X, y)
    assert len(pairs) == model.tree_.training_cost(truth(model)).sum()
    leaves = pairs.where(pairs.group == 0)
    assert len(leaves) == X.shape[0]
    assert (leaves.probability == 1).all()
    assert 0 < log_loss(pairs.outcome, pairs.probability) < 0.7


def test_report_adds_up():
    model = small_model()
    report = measure_calibration(model, X, y)
    total = report.labels
    assert total.n_positives == sum(map(len, y))
    assert sum(band.n_pairs for band in report.frequencies) == total.n_pairs
    assert sum(band.log_loss_per_row for band in report.frequencies) == pytest.approx(total.log_loss_per_row)
    assert [level.name for level in report.levels] == [
        f"nodes on level {level}" for level in range(1 + max(tree.depth for tree in model.trees_))
    ]
    for measures in [total, *report.levels, *report.frequencies]:
        assert measures.name in str(report)
        assert measures.curve.mass.sum() == pytest.approx(measures.n_pairs)
        assert measures.error_per_row == pytest.approx(
            measures.expected_calibration_error * measures.n_pairs / X.shape[0]
        )


def test_labels_are_counted_by_the_digits_of_their_training_rows():
    model = LabelTreeClassifier().fit([[1.0]] * 12, np.array([[1, 1, 0]] * 10 + [[1, 0, 0]] * 2))
    report = measure_calibration(model, [[1.0]], [[1, 0, 0]])
    assert [band.name for band in report.frequencies] == ["labels of no rows", "labels of 10 to 99 rows"]


def test_online_models_are_measured_by_their_labels():
    model = OnlineLabelTreeClassifier(random_state=0).fit(X, y)
    report = measure_calibration(model, X, y)
    assert report.levels == []
    assert report.labels.n_positives == sum(map(len, y))
    with pytest.raises(ValueError, match=r"use model.freeze\(prune=0.0\)"):
        node_pairs(model, X, y)
    assert len(node_pairs(model.freeze(prune=0.0), X, y)) > 0


def test_rows_must_be_as_many_as_labels():
    with pytest.raises(ValueError, match=r"same number of rows .*60 and 59"):
        label_pairs(small_model(), X, y[1:])
    with pytest.raises(ValueError, match="same number of rows"):
        node_pairs(small_model(), X, y[1:])


def test_unknown_labels_do_not_count():
    without = measure_calibration(small_model(), X, [[], *y[1:]])
    assert repr(measure_calibration(small_model(), X, [["zebra"], *y[1:]])) == repr(without)

"""Metrics as objects: their values, and the paper's tables of thresholds and constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, fbeta_score, hamming_loss, jaccard_score
from tests.reference import thresholds as reference

from labeltree import metrics
from labeltree.metrics import (
    AM,
    Coefficients,
    CutOffMetric,
    FBeta,
    Hamming,
    Jaccard,
    LinearFractional,
    ThresholdMetric,
    get_metric,
)

AVERAGES = ("micro", "macro")
EVERY_METRIC: list[ThresholdMetric] = [
    Hamming(),
    Hamming(false_positive_cost=0.5, false_negative_cost=2.0),
    *(FBeta(average, beta) for average in AVERAGES for beta in (0.5, 1.0, 2.0)),
    *(Jaccard(average) for average in AVERAGES),
    *(AM(average) for average in AVERAGES),
    *(LinearFractional(average, 1, -1, -2, 2, 1, 1) for average in AVERAGES),
]


def label_sets(seed: int, n_rows: int = 40, n_labels: int = 6) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    truth = (rng.random((n_rows, n_labels)) < 0.3).astype(float)
    return truth, np.where(rng.random(truth.shape) < 0.25, 1 - truth, truth)


@pytest.mark.parametrize("average", AVERAGES)
def test_f_beta_and_jaccard_are_those_of_scikit_learn(average: Any) -> None:
    truth, predicted = label_sets(0)
    options = {"average": average, "zero_division": 0}
    assert FBeta(average, 2.0)(truth, predicted) == pytest.approx(
        fbeta_score(truth, predicted, beta=2.0, **options)
    )
    assert Jaccard(average)(truth, predicted) == pytest.approx(jaccard_score(truth, predicted, **options))


def test_hamming_and_am_are_those_of_scikit_learn() -> None:
    truth, predicted = label_sets(1)
    assert Hamming()(truth, predicted) == pytest.approx(1 - hamming_loss(truth, predicted))
    per_label = [balanced_accuracy_score(y, z) for y, z in zip(truth.T, predicted.T, strict=True)]
    assert AM("macro")(truth, predicted) == pytest.approx(np.mean(per_label))
    assert AM("micro")(truth, predicted) == pytest.approx(
        balanced_accuracy_score(truth.ravel(), predicted.ravel())
    )


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=lambda metric: metric.name)
def test_values_are_those_of_the_twin(metric: ThresholdMetric) -> None:
    for seed in range(5):
        truth, predicted = label_sets(seed)
        truth[:, 0] = 0  # a label that is true nowhere
        expected = reference.psi(metric.coefficients, metric.average, truth, predicted)
        assert metric(sp.csr_array(truth), sp.csr_array(predicted)) == pytest.approx(expected)


@given(st.floats(0.01, 0.99), st.floats(0.0, 1.0))
def test_thresholds_and_constants_are_those_of_the_paper(prior: float, best: float) -> None:
    def table(metric: ThresholdMetric) -> list[float]:
        return [
            float(metric.optimal_threshold(best, prior)),
            float(metric.smallest_denominator(prior)),
            float(metric.regret_factor(best, prior)),
        ]

    assert table(Hamming()) == pytest.approx([0.5, 1, 2])
    assert table(Hamming(false_positive_cost=1, false_negative_cost=4))[0] == pytest.approx(0.2)
    assert table(Jaccard()) == pytest.approx([best / (best + 1), prior, (best + 1) / prior])
    both = 2 * prior * (1 - prior)
    assert table(AM()) == pytest.approx([prior, both, 1 / both])
    for beta in (0.5, 1.0, 3.0):
        weight = 1 + beta**2
        assert table(FBeta(beta=beta)) == pytest.approx(
            [best / weight, beta**2 * prior, weight / (beta**2 * prior)]
        )


def test_thresholds_and_constants_of_many_labels_come_at_once() -> None:
    prior, best = np.array([0.1, 0.2]), np.array([0.3, 0.9])
    np.testing.assert_allclose(AM("macro").optimal_threshold(best, prior), prior)
    np.testing.assert_allclose(FBeta("macro").optimal_threshold(best, prior), best / 2)
    np.testing.assert_allclose(FBeta("macro").regret_factor(best, prior), 2 / prior)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=lambda metric: metric.name)
def test_the_threshold_of_known_probabilities_is_the_best(metric: ThresholdMetric) -> None:
    """Over all decisions on a finite distribution, not only over thresholds."""
    rng = np.random.default_rng(3)
    mass, probability = rng.dirichlet(np.ones(9)), rng.random(9)
    prior = float(mass @ probability)

    def value(decided: NDArray[Any]) -> float:
        fp, fn = mass @ (decided * (1 - probability)), mass @ ((1 - decided) * probability)
        return reference.ratio(metric.coefficients(prior), fp, fn)

    every = [np.array(list(f"{code:09b}"), dtype=float) for code in range(2**9)]
    best = max(map(value, every))
    threshold = metric.optimal_threshold(best, prior)
    assert value((probability > threshold).astype(float)) == pytest.approx(best)


@pytest.mark.parametrize("metric", EVERY_METRIC, ids=lambda metric: metric.name)
def test_the_kinds_that_need_no_tuning_know_it(metric: ThresholdMetric) -> None:
    assert metric.has_fixed_threshold == isinstance(metric, Hamming | AM)


def test_a_metric_of_ones_own_may_depend_on_the_share_of_positives() -> None:
    class Recall(ThresholdMetric):
        @property
        def name(self) -> str:
            return "recall_with_a_price"

        def coefficients(self, prior: Any) -> Coefficients:
            return Coefficients(prior, -0.1, -1.0, prior, 0.0, 0.0)

    truth, predicted = label_sets(2)
    fp, fn = ((predicted > truth).mean(), (predicted < truth).mean())
    assert Recall()(truth, predicted) == pytest.approx((truth.mean() - 0.1 * fp - fn) / truth.mean())
    assert float(Recall().optimal_threshold(0.0, 0.2)) == pytest.approx(0.1 / 1.1)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("hamming", Hamming()),
        ("micro_f1", FBeta()),
        ("MACRO_F0.5", FBeta("macro", 0.5)),
        ("micro_jaccard", Jaccard()),
        ("macro_am", AM("macro")),
        ("precision@5", CutOffMetric("precision", 5)),
        ("nDCG@3", CutOffMetric("ndcg", 3)),
        ("PSP@1", CutOffMetric("psprecision", 1)),
        ("f1_micro", FBeta()),
        ("F0.5_macro", FBeta("macro", 0.5)),
        ("jaccard_macro", Jaccard("macro")),
    ],
)
def test_metrics_have_names(name: str, metric: Any) -> None:
    assert get_metric(name) == metric
    assert get_metric(metric) is metric
    assert get_metric(metric.name) == metric


@pytest.mark.parametrize(
    "name", ["f1", "micro_f0", "micro_f", "macro_hamming", "precision@0", "x@5", "", 5, None]
)
def test_unknown_names_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="metric must be a name such as hamming, micro_f1, "):
        get_metric(name)


@pytest.mark.parametrize(("name", "meant"), [("micro-f1", "micro_f1"), ("precizion@5", "precision@5")])
def test_a_name_that_is_nearly_right_is_suggested(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        get_metric(name)


def test_a_class_declares_its_names() -> None:
    class Recall(ThresholdMetric):
        names = ("micro_recall", "macro_recall")

        def coefficients(self, prior: Any) -> Coefficients:
            return Coefficients(prior, 0.0, -1.0, prior, 0.0, 0.0)

    assert get_metric("Macro_Recall") == Recall("macro")
    assert Recall().name == "micro_recall"
    with pytest.raises(ValueError, match="macro_recall"):
        get_metric("recall")


def test_metrics_at_k_are_the_functions() -> None:
    truth, _ = label_sets(4)
    ranked = np.argsort(-np.random.default_rng(5).random(truth.shape), axis=1)[:, :3]
    weights = np.linspace(1, 2, truth.shape[1])
    for kind in ("precision", "recall", "ndcg"):
        assert CutOffMetric(kind, 3)(truth, ranked) == getattr(metrics, f"{kind}_at_k")(truth, ranked, 3)
    for kind in ("psprecision", "psndcg"):
        expected = getattr(metrics, f"{kind}_at_k")(truth, ranked, 3, inverse_propensity=weights)
        assert CutOffMetric(kind, 3, weights)(truth, ranked) == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FBeta("samples"), "average must be 'micro' or 'macro', got 'samples'"),
        (lambda: FBeta(beta=0), "beta must be a positive number, got 0"),
        (lambda: Hamming(false_positive_cost=-1), "false_positive_cost must be a positive number, got -1"),
        (lambda: LinearFractional(a1=1), "must not rise with FP or FN"),
        (lambda: LinearFractional(a0=1, a1=0, a2=0), "must depend on FP or FN"),
        (lambda: LinearFractional(b0=1, b1=-1), "the denominator is positive"),
        (lambda: LinearFractional(a0=float("nan")), "must be finite numbers"),
        (lambda: CutOffMetric("accuracy", 5), "kind must be one of 'precision', 'recall'"),
        (lambda: CutOffMetric("precision", 0), "k must be an integer of at least 1, got 0"),
        (lambda: CutOffMetric("precision", 1, [1.0]), "does not use inverse_propensity"),
    ],
)
def test_impossible_metrics_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_propensity_scored_metrics_need_weights_to_be_computed() -> None:
    with pytest.raises(ValueError, match="psprecision@1 needs the weights of the labels"):
        get_metric("psp@1")([["cat"]], [["cat"]])

"""Thresholds against brute force and twins, and how little memory they need."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.reference import thresholds as reference

from labeltree.decisions import OFO, exact_threshold, fixed_threshold, ofo_threshold
from labeltree.decisions.exact_search import search
from labeltree.decisions.online_f_measure import optimise
from labeltree.decisions.validation_pairs import read_validation_pairs
from labeltree.metrics import AM, FBeta, Hamming, Jaccard, LinearFractional, ThresholdMetric

TUNED: list[ThresholdMetric] = [
    FBeta(),
    FBeta(beta=2.0),
    FBeta("macro", 0.5),
    Jaccard(),
    Jaccard("macro"),
    Hamming(),
    AM("micro"),
    AM("macro"),
    LinearFractional("micro", 1, -1, -3, 2, 1, 0),
    LinearFractional("macro", 1, -1, -1, 1, 1, 0),
]


def scored(
    seed: int, n_rows: int = 25, n_labels: int = 4, n_levels: int = 12
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Truth and scores, with ties among scores and many that are not stored."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(0, n_levels + 1, (n_rows, n_labels)) / n_levels).astype(np.float32)
    return (rng.random(scores.shape) < scores * 0.8).astype(float), scores


def decided(scores: NDArray[Any], threshold: Any) -> NDArray[Any]:
    return ((scores >= threshold) & (scores > 0)).astype(float)


@pytest.mark.parametrize("metric", TUNED, ids=lambda metric: metric.name)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 30), n_levels=st.sampled_from([2, 7, 10**6]))
def test_no_threshold_is_better_than_the_exact_one(
    metric: ThresholdMetric, seed: int, n_rows: int, n_levels: int
) -> None:
    truth, scores = scored(seed, n_rows, n_levels=n_levels)
    if not truth.any():
        return
    threshold = exact_threshold(metric, truth, sp.csr_array(scores))

    def value(y: NDArray[Any], z: NDArray[Any]) -> float:
        return reference.psi(metric.coefficients, metric.average, y, z)

    brute_force = reference.best_value if metric.average == "micro" else reference.best_macro_value
    assert value(truth, decided(scores, threshold)) == pytest.approx(brute_force(value, truth, scores))


@pytest.mark.parametrize("metric", TUNED, ids=lambda metric: metric.name)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(2, 12), n_levels=st.sampled_from([2, 5, 10**6]))
def test_of_equally_good_thresholds_the_highest_is_chosen(
    metric: ThresholdMetric, seed: int, n_rows: int, n_levels: int
) -> None:
    truth, scores = scored(seed, n_rows, n_levels=n_levels)
    if not truth.any():
        return

    def value(y: NDArray[Any], z: NDArray[Any]) -> float:
        return reference.psi(metric.coefficients, metric.average, y, z)

    threshold = np.broadcast_to(exact_threshold(metric, truth, sp.csr_array(scores)), 4)
    groups = [slice(None)] if metric.average == "micro" else [slice(j, j + 1) for j in range(4)]
    for group in groups:
        y, p = truth[:, group], scores[:, group]
        cuts = [*np.unique(p[p > 0]), 2.0]
        if np.ptp([value(y, decided(p, cut)) for cut in cuts]) < 1e-9:
            continue  # all are equally good: the label gets the threshold of all labels
        assert decided(p, threshold[group]).sum() == reference.fewest_predictions(value, y, p)


def test_ties_by_hand() -> None:
    """Hamming loss: one error at the first cut and at the third, and one without any prediction."""
    scores = sp.csr_array(np.array([[0.9], [0.8], [0.7]], dtype=np.float32))
    assert exact_threshold(Hamming(), np.array([[1], [0], [1]]), scores) == pytest.approx(0.85)
    assert exact_threshold(Hamming(), np.array([[0], [1], [0]]), scores) == np.nextafter(
        np.float32(0.9), np.float32(2)
    )
    # No cut goes through equal scores, although it would be the best one.
    equal = sp.csr_array(np.array([[0.8], [0.8], [0.3]], dtype=np.float32))
    assert exact_threshold(FBeta(), np.array([[1], [0], [0]]), equal) == pytest.approx(0.55)


def test_one_threshold_for_all_labels_or_one_for_each() -> None:
    truth, scores = scored(0)
    assert isinstance(exact_threshold(FBeta(), truth, sp.csr_array(scores)), float)
    per_label = exact_threshold(FBeta("macro"), truth, sp.csr_array(scores))
    assert isinstance(per_label, np.ndarray)
    assert per_label.shape == (4,)


def test_thresholds_for_f1_are_those_for_jaccard() -> None:
    for seed in range(10):
        truth, scores = scored(seed)
        for average in ("micro", "macro"):
            for tune in (exact_threshold, ofo_threshold):
                np.testing.assert_array_equal(
                    tune(FBeta(average), truth, sp.csr_array(scores)),
                    tune(Jaccard(average), truth, sp.csr_array(scores)),
                )


@pytest.mark.parametrize("tune", [exact_threshold, ofo_threshold])
def test_a_label_without_positives_has_the_threshold_of_all_labels(tune: Any) -> None:
    truth, scores = scored(1)
    truth[:, 2] = 0
    scores[:, 3] = 0  # true, but the model never thinks of it
    truth[0, 3] = 1
    per_label = tune(FBeta("macro"), truth, sp.csr_array(scores))
    common = np.float32(tune(FBeta("micro"), truth, sp.csr_array(scores)))
    assert per_label[2] == common
    assert per_label[3] == common or tune is ofo_threshold
    assert (per_label[:2] != common).any()


def test_where_false_positives_count_a_label_without_positives_is_never_predicted() -> None:
    truth, scores = np.array([[0, 1], [0, 1]]), np.array([[0.4, 0.9], [1.0, 0.2]], dtype=np.float32)
    per_label = exact_threshold(LinearFractional("macro", 1, -1, -1, 1, 1, 0), truth, sp.csr_array(scores))
    assert per_label[0] > 1
    assert 0 < per_label[1] <= np.float32(0.2)


def test_thresholds_lie_between_neighbouring_scores_even_if_there_is_nothing_between() -> None:
    low = np.float32(0.3)
    scores = np.array([[np.nextafter(low, np.float32(1))], [low]], dtype=np.float32)
    threshold = exact_threshold(FBeta(), np.array([[1], [0]]), sp.csr_array(scores))
    np.testing.assert_array_equal(scores >= threshold, [[True], [False]])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
    prior=st.sampled_from([(1.0, 2.0), (10.0, 20.0), (0.5, 8.0)]),
    epochs=st.integers(1, 3),
)
def test_ofo_is_its_twin(seed: int, beta: float, prior: tuple[float, float], epochs: int) -> None:
    truth, scores = scored(seed)
    a, b = prior
    options = {"a": a, "b": b, "epochs": epochs}
    if not truth.any(axis=0).all():
        return
    one = ofo_threshold(FBeta("micro", beta), truth, sp.csr_array(scores), **options)
    assert one == pytest.approx(reference.ofo_micro(beta, truth, scores, a, b, epochs))
    each = ofo_threshold(FBeta("macro", beta), truth, sp.csr_array(scores), **options)
    np.testing.assert_allclose(each, reference.ofo_macro(beta, truth, scores, a, b, epochs), rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    beta=st.sampled_from([0.5, 1.0, 2.0]),
    n_unknown=st.integers(1, 60),
    epochs=st.integers(1, 3),
)
def test_labels_that_the_model_does_not_know_count_as_missed(
    seed: int, beta: float, n_unknown: int, epochs: int
) -> None:
    truth, scores = scored(seed)
    if not truth.any(axis=0).all():
        return
    pairs = read_validation_pairs(truth, sp.csr_array(scores))
    with_unknown = replace(pairs, n_unknown=n_unknown)
    ofo = OFO(epochs=epochs)
    expected = reference.ofo_micro(beta, truth, scores, ofo.a, ofo.b, epochs, n_unknown / len(truth))
    assert optimise(FBeta("micro", beta), with_unknown, ofo) == pytest.approx(expected)
    # They are no rows of the known labels.
    np.testing.assert_array_equal(
        optimise(FBeta("macro", beta), with_unknown, ofo), optimise(FBeta("macro", beta), pairs, ofo)
    )
    # The exact search misses them whatever it predicts: as labels that are never scored.
    missed = np.zeros((len(truth), n_unknown))
    missed[0] = 1
    wider = exact_threshold(
        FBeta("micro", beta), np.hstack([truth, missed]), sp.csr_array(np.hstack([scores, 0 * missed]))
    )
    assert search(FBeta("micro", beta), with_unknown) == wider


@pytest.mark.parametrize("metric", [FBeta(), FBeta("macro"), FBeta("macro", 2.0), Jaccard()])
def test_of_true_probabilities_ofo_and_the_exact_search_agree(metric: ThresholdMetric) -> None:
    rng = np.random.default_rng(7)
    scores = (rng.beta(0.4, 1.5, (4000, 5)) ** np.linspace(0.7, 1.5, 5)).astype(np.float32)
    truth = (rng.random(scores.shape) < scores).astype(float)
    found = {tune: tune(metric, truth, sp.csr_array(scores)) for tune in (exact_threshold, ofo_threshold)}
    values = {tune: metric(truth, decided(scores, threshold)) for tune, threshold in found.items()}
    assert values[exact_threshold] - 0.006 <= values[ofo_threshold] <= values[exact_threshold]
    # And both are what theory says: a function of the value that they reach.
    if metric.average == "micro":
        expected = metric.optimal_threshold(values[ofo_threshold], float(truth.mean()))
        assert found[ofo_threshold] == pytest.approx(float(expected), abs=0.01)
        assert found[exact_threshold] == pytest.approx(float(expected), abs=0.05)


def test_fixed_thresholds_are_known_from_the_metric_and_the_share_of_positives() -> None:
    prior = np.array([0.1, 0.02, 0.3])
    assert fixed_threshold(Hamming(), prior) == 0.5
    assert fixed_threshold(Hamming(false_positive_cost=1, false_negative_cost=3), prior) == 0.25
    assert fixed_threshold(AM("micro"), prior) == pytest.approx(0.14)
    np.testing.assert_allclose(fixed_threshold(AM("macro"), prior), prior, rtol=1e-6)
    np.testing.assert_allclose(fixed_threshold(Hamming("macro"), prior), [0.5, 0.5, 0.5])


@pytest.mark.parametrize("metric", [FBeta(), FBeta("macro"), Jaccard("macro")])
@pytest.mark.parametrize("tune", [exact_threshold, ofo_threshold])
def test_memory_is_that_of_the_stored_pairs_and_one_number_per_label(
    tune: Any, metric: ThresholdMetric
) -> None:
    """A dense matrix of 300 rows and a million labels has at least 300 bytes per label."""
    n_rows, n_labels = 300, 1_000_000
    rng = np.random.default_rng(0)
    pairs = (np.repeat(np.arange(n_rows), 20), rng.integers(0, n_labels, 20 * n_rows))
    scores = sp.coo_array(
        (rng.random(20 * n_rows, dtype=np.float32), pairs), shape=(n_rows, n_labels)
    ).tocsr()
    scores.data = np.minimum(scores.data, 1)
    truth = sp.csr_array((scores.data > 0.6, scores.indices, scores.indptr), shape=scores.shape)
    truth.eliminate_zeros()
    tracemalloc.start()
    thresholds = tune(metric, truth.astype(np.int8), scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.shape(thresholds) in ((), (n_labels,))
    assert peak < 40 * n_labels


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_threshold(FBeta(), [[1, 0]], sp.csr_array([[0.5]])), "of the shape of y_true, .1, 2."),
        (lambda: exact_threshold(FBeta(), np.array([[0, 0]]), sp.csr_array([[0.5, 0]])), "no label in any row"),
        (lambda: exact_threshold(FBeta(), np.array([[1]]), sp.csr_array([[1.5]])), "from 0 to 1, got 1.5 in row 0"),
        (lambda: exact_threshold(FBeta(), np.array([[2]]), sp.csr_array([[0.5]])), "matrix of 0 and 1, got 2"),
        (lambda: ofo_threshold(AM(), np.array([[1]]), sp.csr_array([[0.5]])), "not for micro_am; use method='exact'"),
        (lambda: ofo_threshold(FBeta(), np.array([[1]]), sp.csr_array([[0.5]]), a=3), "a must be at most b"),
        (lambda: ofo_threshold(FBeta(), np.array([[1]]), sp.csr_array([[0.5]]), a=0), "parameter 'a' must be"),
        (lambda: ofo_threshold(FBeta(), np.array([[1]]), sp.csr_array([[0.5]]), epochs=0), "epochs must be"),
        (lambda: fixed_threshold(FBeta(), [0.1]), "for micro_f1 depends on the data"),
        (lambda: fixed_threshold(AM(), [1.1]), "a number from 0 to 1 for each label"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_explained(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

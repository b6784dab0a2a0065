"""Centred isotonic regression, beside scikit-learn's isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from labeltree.calibration.fitting import CERTAIN_SCORE, fit_steps, level_maps_of_trial
from labeltree.calibration.monotone_map import N_BINS, ScoreBins, bin_edges, fit_knots, log_loss_of
from labeltree.training.trial import TrialScores


def pairs(seed: int, n: int, gain: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    score = random.normal(size=n)
    positive = random.random(n) < 1 / (1 + np.exp(1 - gain * score))
    return score, positive, random.integers(1, 5, n).astype(float)


DRAWN = st.builds(
    pairs, st.integers(0, 10_000), st.integers(1, 400), st.sampled_from([-1.0, 0.0, 1.0, 4.0, 50.0])
)


@given(DRAWN)
def test_the_map_rises_between_all_knots_and_never_says_0_or_1(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    knots, values = fit_knots(ScoreBins.of(*drawn))
    assert (np.diff(knots.astype(np.float32)) > 0).all()
    assert (np.diff(values) >= 0).all()
    # Different scores have different probabilities, but for the bounds and the two ends.
    assert (np.diff(values[1:-1]) > 0).all()
    assert 0 < values[0] <= values[-1] < 1
    assert knots[0] == pytest.approx(drawn[0].min())
    assert knots[-1] == pytest.approx(drawn[0].max())


@given(DRAWN)
def test_the_squared_error_is_nearly_that_of_isotonic_regression(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    score, positive, weight = drawn
    judge = IsotonicRegression(out_of_bounds="clip").fit(score, positive, sample_weight=weight)

    def error(probability: np.ndarray) -> float:
        return float(weight @ (probability - positive) ** 2 / weight.sum())

    found = error(np.interp(score, *fit_knots(ScoreBins.of(score, positive, weight))))
    least = error(judge.predict(score))
    constant = error(np.full(len(score), weight @ positive / weight.sum()))
    assert found >= least - 1e-9  # no monotone map is better
    # Between the classes the map rises slowly: where scores tell nearly all, it loses some of what they tell.
    assert found <= least + 0.02 + 0.35 * (constant - least) + 2 / len(score)


def test_the_map_is_the_true_one_on_many_pairs() -> None:
    random = np.random.default_rng(0)
    score = random.normal(size=200_000)
    truth = 1 / (1 + np.exp(2 - 3 * score))
    knots, values = fit_knots(ScoreBins.of(score, random.random(len(score)) < truth, np.ones(len(score))))
    asked = np.linspace(-2, 2, 41)
    np.testing.assert_allclose(np.interp(asked, knots, values), 1 / (1 + np.exp(2 - 3 * asked)), atol=0.03)
    assert len(np.unique(np.interp(asked, knots, values))) == len(asked)  # no plateau


def test_weights_count_pairs() -> None:
    score, positive, weight = pairs(1, 300, 2.0)
    whole = [np.repeat(array, weight.astype(int)) for array in (score, positive)]
    edges = bin_edges(score, positive)
    heavy = fit_knots(ScoreBins.of(score, positive, weight, edges))
    repeated = fit_knots(ScoreBins.of(*whole, np.ones(len(whole[0])), edges))
    for found, expected in zip(heavy, repeated, strict=True):
        np.testing.assert_allclose(found, expected)


def test_the_bins_hold_all_pairs() -> None:
    score, positive, weight = pairs(2, 5_000, 2.0)
    bins = ScoreBins.of(score, positive, weight)
    assert 10 < len(bins.score) <= 2 * N_BINS + 3
    assert bins.positive.sum() == pytest.approx(weight[positive].sum())
    assert bins.negative.sum() == pytest.approx(weight[~positive].sum())
    assert (np.diff(bins.score) > 0).all()
    assert (bins.lowest, bins.highest) == (score.min(), score.max())


@pytest.mark.parametrize("positive", [0, 1])
def test_one_class_or_one_score_is_enough(positive: int) -> None:
    n = 40
    same = fit_knots(ScoreBins.of(np.full(n, 0.5), np.full(n, positive, bool), np.ones(n)))
    one_class = fit_knots(ScoreBins.of(np.linspace(-1, 1, n), np.full(n, positive, bool), np.ones(n)))
    for knots, values in (same, one_class):
        p = np.interp([-5.0, 0.5, 5.0], knots, values)
        assert ((p > 0) & (p < 1)).all()
        assert ((p > 0.9) == positive).all()


def test_the_loss_is_that_of_the_means_of_bins() -> None:
    score, positive = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 1, 1, 1], bool)
    bins = ScoreBins.of(score, positive, np.array([3.0, 1.0, 2.0, 2.0]))
    knots, values = np.array([0.0, 1.0]), np.array([0.25, 1.0])
    expected = -(3 * np.log(0.75) + np.log(0.25) + 4 * np.log(0.999))  # a probability of 1 is bounded
    assert log_loss_of(bins, knots, values) == pytest.approx(expected)


def test_constant_nodes_are_knots_of_their_own() -> None:
    score, positive, weight = pairs(3, 500, 3.0)
    alone = fit_steps(score, positive, weight)
    ends = np.full(200, CERTAIN_SCORE)
    knots, values = fit_steps(
        np.concatenate([score, -ends, ends]),
        np.concatenate([positive, np.arange(200) < 1, np.arange(200) > 1]),
        np.concatenate([weight, np.ones(400)]),
    )
    np.testing.assert_array_equal(knots, [-CERTAIN_SCORE, *alone[0], CERTAIN_SCORE])
    np.testing.assert_array_equal(values[1:-1], alone[1])
    assert values[0] == min(2 / 202, alone[1][0])
    assert values[-1] == max(199 / 202, alone[1][-1])
    # Only constant nodes
    knots, values = fit_steps(-ends, ends < 0, np.ones(200))
    assert np.interp(-CERTAIN_SCORE, knots, values) == pytest.approx(1 / 202)


def trial_scores(level: np.ndarray, seed: int = 0) -> TrialScores:
    score, positive, weight = pairs(seed, len(level), 3.0)
    return TrialScores(np.zeros(len(level), np.int32), level, positive, weight, score.astype(np.float32))


def test_maps_of_a_trial() -> None:
    level = np.repeat([0, 1, 3], [400, 300, 10])
    arrays = level_maps_of_trial(trial_scores(level), 4, 1000)
    assert arrays is not None
    of_level = [slice(*arrays["knot_begin"][at : at + 2]) for at in range(4)]
    for knots in of_level:
        # A node that no example has gets 0, and every other something between 0 and 1.
        assert (arrays["knot_score"][knots][0], arrays["knot_probability"][knots][0]) == (-CERTAIN_SCORE, 0)
        rest = arrays["knot_probability"][knots][1:]
        assert ((rest > 0) & (rest < 1)).all()
    # Levels with few pairs or none share a map.
    for other in (2, 3):
        shared = arrays["knot_probability"][of_level[other]]
        np.testing.assert_array_equal(shared, arrays["knot_probability"][of_level[2]])
    assert level_maps_of_trial(trial_scores(np.ones(10, np.int64)), 4, 1000) is None
    rootless = level_maps_of_trial(trial_scores(np.ones(300, np.int64)), 2, 998)
    assert rootless is not None
    assert rootless["knot_probability"][1] == pytest.approx(1 - 1 / 1000)

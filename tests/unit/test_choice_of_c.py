"""The rule that chooses C for each level of a tree."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents
from tests.reference.calibrated_loss import calibrated_loss as slow_calibrated_loss

from labeltree import LabelTreeClassifier
from labeltree.training import choice_of_c, linear_learner
from labeltree.training.choice_of_c import STEP, calibrated_loss, lowest_point
from labeltree.training.losses import LOSSES
from labeltree.training.trial import TrialScores


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


class TestLowestPoint:
    @pytest.mark.parametrize("lowest", [0.2, 1.0, 1.7, 3.3])
    def test_of_a_parabola(self, lowest: float) -> None:
        losses = {STEP**n: 7 + 3 * math.log(STEP**n / lowest) ** 2 for n in range(-3, 4)}
        assert lowest_point(losses) == pytest.approx(lowest)

    def test_at_an_end_it_is_the_end(self) -> None:
        assert lowest_point({1.0: 3.0, STEP: 2.0, STEP**2: 1.0}) == STEP**2
        assert lowest_point({1.0: 1.0, STEP: 2.0, STEP**2: 3.0}) == 1.0

    def test_it_is_within_half_a_step_of_the_best(self) -> None:
        random = np.random.default_rng(0)
        for _ in range(100):
            losses = {STEP**n: float(random.normal()) for n in range(6)}
            best = min(losses, key=lambda C: losses[C])
            assert abs(math.log(lowest_point(losses) / best)) <= math.log(STEP) / 2 + 1e-9

    def test_flat_losses_are_no_division_by_zero(self) -> None:
        assert lowest_point(dict.fromkeys([1.0, STEP, STEP**2], 2.0)) in (1.0, STEP)


class TestCalibratedLoss:
    def pairs(self, n: int, gain: float, seed: int = 0) -> TrialScores:
        random = np.random.default_rng(seed)
        score = random.normal(size=n).astype(np.float32)
        positive = random.random(n) < 1 / (1 + np.exp(2 - gain * score))
        weight = random.integers(1, 4, n).astype(float)
        return TrialScores(np.arange(n, dtype=np.int32), np.ones(n, np.int64), positive, weight, score)

    @pytest.mark.parametrize("gain", [0.5, 2.0, 5.0])
    def test_it_is_nearly_that_of_scikit_learn(self, gain: float) -> None:
        pairs = self.pairs(2_000, gain)
        judged_first = np.random.default_rng(1).random(2_000) < 0.5
        found = calibrated_loss(pairs, judged_first)
        expected = slow_calibrated_loss(pairs.score.astype(float), pairs.positive, pairs.weight, judged_first)
        assert found == pytest.approx(expected, rel=0.04)

    def test_better_scores_have_a_smaller_loss_whatever_their_scale(self) -> None:
        judged_first = np.random.default_rng(1).random(4_000) < 0.5
        good = self.pairs(4_000, 4.0)
        random = np.random.default_rng(2)
        noisy = good.score + random.normal(size=4_000).astype(np.float32)
        losses = []
        for score in (good.score, 10 * good.score - 3, noisy):
            losses.append(
                calibrated_loss(
                    TrialScores(good.row, good.level, good.positive, good.weight, score), judged_first
                )
            )
        assert losses[1] == pytest.approx(losses[0], rel=1e-3)
        assert losses[2] > 1.2 * losses[0]

    def test_the_map_is_not_fitted_on_the_pairs_that_it_judges(self) -> None:
        pairs = self.pairs(60, 0.0)
        judged_first = np.arange(60) < 30
        own = calibrated_loss(pairs, np.ones(60, bool))  # one half only judges itself
        assert calibrated_loss(pairs, judged_first) > own

    def test_constant_nodes_do_not_count(self) -> None:
        pairs = self.pairs(500, 2.0)
        certain = TrialScores(
            pairs.row, pairs.level, pairs.positive, pairs.weight, np.full(500, 1000, np.float32)
        )
        judged_first = np.arange(500) % 2 == 0
        both = TrialScores.joined([pairs, certain])
        assert calibrated_loss(certain, judged_first) == 0
        assert calibrated_loss(both, np.tile(judged_first, 2)) == calibrated_loss(pairs, judged_first)


def noisy(share: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Documents; this share of them has the labels of others."""
    X, y = documents(1500, 200, 20, seed=1)
    random = np.random.default_rng(0)
    row = np.arange(1500)
    swapped = random.random(1500) < share
    row[swapped] = random.permutation(row[swapped])
    return X, y[row]


def geometric_mean(C: Any) -> float:
    return float(np.exp(np.mean(np.log(C))))


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared", "exponential"])
def test_noise_wants_a_smaller_c(loss: str) -> None:
    chosen = []
    for share in (0.0, 0.5):
        X, y = noisy(share)
        model = LabelTreeClassifier(loss=loss, random_state=0).fit(X, y)
        assert LOSSES[loss].default_c in model.C_scores_
        assert len(model.C_) == model.tree_.depth + 1
        assert all(len(of_levels) == len(model.C_) for of_levels in model.C_scores_.values())
        chosen.append(geometric_mean(model.C_))
    clean, dirty = chosen
    assert dirty < clean / 2


def test_it_goes_on_where_the_best_is_at_an_end() -> None:
    X, y = noisy(0.5)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    tried = list(model.C_scores_)
    assert tried == sorted(tried)
    assert len(tried) in (6, 8, 10)
    assert min(tried) < 0.05
    np.testing.assert_allclose(np.diff(np.log(tried)), np.log(STEP))


def test_c_of_a_level_is_halfway_between_the_best_of_the_tree_and_of_the_level() -> None:
    X, y = documents(1500, 80, 30, unlabelled=0.1, seed=4)
    model = LabelTreeClassifier(arity=3, max_leaves=4, frequent_share=0.0, random_state=0).fit(X, y)
    losses = {C: np.array(of_levels) for C, of_levels in model.C_scores_.items()}
    of_tree = lowest_point({C: float(np.nansum(of_levels)) for C, of_levels in losses.items()})
    halfway = [
        math.sqrt(of_tree * lowest_point({C: of_levels[at] for C, of_levels in losses.items()}))
        for at in range(len(model.C_))
    ]
    # Two digits; a level with few pairs has that of the tree.
    assert len(set(model.C_)) > 1
    for C, expected in zip(model.C_, halfway, strict=True):
        assert pytest.approx(expected, rel=0.06) == C or pytest.approx(of_tree, rel=0.06) == C
    assert any(pytest.approx(of_tree, rel=0.06) != C for C in model.C_)


def test_levels_with_few_positive_pairs_take_that_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_of_c, "FEWEST_POSITIVES", 10**9)
    X, y = documents(600, 80, 30, unlabelled=0.1, seed=4)
    model = LabelTreeClassifier(arity=3, max_leaves=4, frequent_share=0.0, random_state=0).fit(X, y)
    assert len(model.C_) >= 4
    assert len(set(model.C_)) == 1


def test_fewer_rows_than_200_leave_the_default() -> None:
    X, y = documents(200, 60, 12)
    for loss in ("squared_hinge", "logistic"):
        few = LabelTreeClassifier(loss=loss, random_state=0).fit(X[:199], y[:199])
        assert LOSSES[loss].default_c == few.C_
        assert few.C_scores_ is None
        assert isinstance(LabelTreeClassifier(loss=loss, random_state=0).fit(X, y).C_, list)
    fixed = LabelTreeClassifier(C=None, random_state=0).fit(X, y)
    assert (fixed.C_, fixed.C_scores_) == (1.0, None)
    assert LabelTreeClassifier(C=0.7, random_state=0).fit(X, y).C_ == 0.7


def test_the_log_tells_what_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    X, y = documents(250, 60, 12)
    with caplog.at_level(logging.INFO, logger="labeltree"):
        model = LabelTreeClassifier(random_state=0).fit(X, y)
    told = f"C of each level, from the root: {', '.join(f'{C:g}' for C in model.C_)}"
    assert told in [record.getMessage() for record in caplog.records]


def test_the_choice_does_not_depend_on_threads() -> None:
    X, y = documents(500, 80, 30, unlabelled=0.1, seed=3)
    shape = {"arity": 3, "max_leaves": 4, "frequent_share": 0.0, "n_trees": 2, "random_state": 5}
    models = [LabelTreeClassifier(n_jobs=n, **shape).fit(X, y) for n in (1, 3)]
    assert models[0].C_ == models[1].C_
    assert models[0].C_scores_ == models[1].C_scores_
    for one, other in zip(models[0].weights_, models[1].weights_, strict=True):
        np.testing.assert_array_equal(one.arrays["weight"], other.arrays["weight"])
    for one, other in zip(models[0].calibration_.trees, models[1].calibration_.trees, strict=True):
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name])
    assert set(models[0].fit_seconds_) == {"clustering", "trial", "training"}


def test_weights_of_rows_count_in_the_choice() -> None:
    """Noisy rows do not lead to a small C if they count next to nothing."""
    X, y = (sp.vstack(parts).tocsr() for parts in zip(noisy(0.0), noisy(0.5), strict=True))
    chosen = []
    for heavy in (slice(0, 1500), slice(1500, 3000)):
        weight = np.full(3000, 1e-3)
        weight[heavy] = 1
        model = LabelTreeClassifier(random_state=0).fit(X, y, sample_weight=weight)
        chosen.append(geometric_mean(model.C_))
    assert chosen[1] < chosen[0] / 2

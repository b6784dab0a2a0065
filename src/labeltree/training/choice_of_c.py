"""The choice of C for each level of a tree, by a trial: `C="auto"`."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.measures import log_loss
from labeltree.calibration.monotone_map import fit_knots
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.plan import Run
from labeltree.training.trial import Trial, TrialScores

#: The default C times these numbers are tried.
FACTORS = (0.25, 0.5, 1.0, 2.0)
#: If the smallest or the largest C of a level is its best, two more are tried beyond it, at most this many times.
MOST_EXTENSIONS = 3

#: Levels with fewer positive pairs take the C that is best for all other levels together.
FEWEST_POSITIVES = 100


@dataclass(frozen=True)
class ChosenC:
    """The chosen C of each level, and the reason.

    Attributes
    ----------
    C : list of float
        One value for each level.
    losses : dict
        By C, the log loss of each level; NaN for levels where it was not tried.
    scores : TrialScores
        The scores of the pairs with the C of their level.
    """

    C: list[float]
    losses: dict[float, list[float]]
    scores: TrialScores


class _Level:
    """What was tried on one level."""

    def __init__(self) -> None:
        self.scores: dict[float, TrialScores] = {}
        self.losses: dict[float, float] = {}

    def add(self, C: float, scores: TrialScores, judged_first: NDArray[np.bool_]) -> None:
        self.scores[C] = scores
        self.losses[C] = calibrated_loss(scores, judged_first[scores.row])

    @property
    def is_telling(self) -> bool:
        """Whether the level has enough positive pairs to tell one C from another."""
        some = next(iter(self.scores.values()))
        return int(some.positive.sum()) >= FEWEST_POSITIVES

    @property
    def best(self) -> float:
        return min(self.losses, key=lambda C: self.losses[C])

    def beyond(self) -> tuple[float, ...]:
        """Return values to try next: none unless the smallest or the largest C is the best."""
        if not self.is_telling:
            return ()
        if self.best == min(self.losses):
            return self.best / 4, self.best / 2
        return (self.best * 2, self.best * 4) if self.best == max(self.losses) else ()


def choose_c(trial: Trial, settings: SolverSettings, run: Run) -> ChosenC:
    """Return for each level the C with the smallest log loss on the held-out rows of a trial.

    Scores become probabilities by a monotone map for each level and C: half of the rows are judged by the map that fits
    the other half. So the loss does not depend on the link; it is the loss of a calibrated model.
    """
    start = settings.C
    assert isinstance(start, float)  # a list is a result of this function
    judged_first = np.random.default_rng([trial.seed, 1]).random(len(trial.held_out)) < 0.5
    levels = {level: _Level() for level in np.unique(trial.level).tolist()}
    wanted = {tuple(start * factor for factor in FACTORS): list(levels)}
    for _ in range(1 + MOST_EXTENSIONS):
        for C_values, those in wanted.items():
            found = trial.scores(settings, C_values, those, run)
            for level in those:
                of_level = found.take(found.level == level)
                for number, C in enumerate(C_values):
                    levels[level].add(C, replace(of_level, score=of_level.score[:, number]), judged_first)
        wanted = defaultdict(list)
        for level, state in levels.items():
            if more := state.beyond():
                wanted[more].append(level)
    telling = [state for state in levels.values() if state.is_telling]
    together = {C: sum(state.losses[C] for state in telling) for C in (start * factor for factor in FACTORS)}
    common = min(together, key=lambda C: together[C]) if telling else start
    chosen = [common] * (trial.tree.depth + 1)
    for level, state in levels.items():
        if state.is_telling:
            chosen[level] = state.best
    return ChosenC(
        chosen,
        _by_value(levels, len(chosen)),
        TrialScores.joined([state.scores[chosen[level]] for level, state in levels.items()]),
    )


def calibrated_loss(scores: TrialScores, judged_first: NDArray[np.bool_]) -> float:
    """Return the sum of the log losses of pairs with one C, each by a map that was fitted on the other half."""
    total = 0.0
    for judged in (judged_first, ~judged_first):
        if judged.any() and not judged.all():
            fitting = scores.take(~judged)
            knots, values = fit_knots(fitting.score.astype(np.float64), fitting.positive, fitting.weight)
            weight = scores.weight[judged]
            probability = np.interp(scores.score[judged], knots, values)
            total += log_loss(scores.positive[judged], probability, weight=weight) * float(weight.sum())
    return total


def _by_value(levels: dict[int, _Level], n_levels: int) -> dict[float, list[float]]:
    """Return by C the loss of each level."""
    values = sorted({C for state in levels.values() for C in state.losses})
    none = _Level()
    return {
        C: [levels.get(level, none).losses.get(C, math.nan) for level in range(n_levels)] for C in values
    }

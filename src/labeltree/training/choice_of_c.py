"""The choice of C for each level of a tree, by a trial: `C="auto"`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.fitting import CERTAIN_SCORE
from labeltree.calibration.monotone_map import ScoreBins, bin_edges, fit_knots, log_loss_of
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.run import Run
from labeltree.training.trial import Trial, TrialScores, TrialSize, TrialSource

#: The default C times these numbers are tried: each is STEP times the one before.
STEP = 8**0.5
FACTORS = (1 / 8, 1 / STEP, 1.0, STEP)
#: If the smallest or the largest C is the best for the tree, two more are tried beyond it, at most this many times.
MOST_EXTENSIONS = 3

#: With 8 columns, four C fill the 32 lanes of the kernel.
SIZE = TrialSize(n_columns=8, n_positive=800, most_work=0.1, most_rows=10_000)

#: Levels with fewer positive pairs take the C of the whole tree.
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
    """

    C: list[float]
    losses: dict[float, list[float]]

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return arrays that `from_arrays` reads."""
        losses = np.array(list(self.losses.values()), dtype=np.float64).ravel()
        return {"C": np.array(self.C), "tried": np.array(list(self.losses)), "losses": losses}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> ChosenC:
        """Return the choice that `to_arrays` has written."""
        by_C = arrays["losses"].reshape(len(arrays["tried"]), len(arrays["C"]))
        return cls(arrays["C"].tolist(), dict(zip(arrays["tried"].tolist(), by_C.tolist(), strict=True)))


def choose_c(source: TrialSource, settings: SolverSettings, seed: int, run: Run) -> ChosenC | None:
    """Return for each level a C with a small log loss on the held-out rows of a trial.

    Scores become probabilities by a monotone map for each level and C: half of the rows are judged by the map that fits
    the other half. So the loss does not depend on the link; it is the loss of a calibrated model. The C of a level is
    halfway (by its logarithm) between the best for the whole tree, which the trial tells well, and the best for the
    level, which has fewer pairs. The result is None if there is nothing to judge by.
    """
    start = settings.C
    assert isinstance(start, float)  # a list is a result of this function
    trial = Trial.draw(source, SIZE, seed)
    if len(trial.level) == 0:
        return None
    judged_first = np.random.default_rng([trial.seed, 1]).random(len(trial.held_out)) < 0.5
    losses: dict[float, dict[int, float]] = {}
    wanted = [start * factor for factor in FACTORS]
    for _ in range(1 + MOST_EXTENSIONS):
        found = trial.scores(settings, wanted, run)
        if found.positive.all() or not found.positive.any():
            return None
        losses |= {C: {} for C in wanted}
        for level in np.unique(found.level).tolist():
            pairs = found.take(np.flatnonzero(found.level == level))
            first, scale = judged_first[pairs.row], float(trial.level_scale[level])
            for number, C in enumerate(wanted):
                losses[C][level] = scale * calibrated_loss(
                    replace(pairs, score=pairs.score[:, number]), first
                )
        total = {C: sum(losses[C].values()) for C in sorted(losses)}
        best = min(total, key=lambda C: total[C])
        if best == min(total):
            wanted = [best / STEP**2, best / STEP]
        elif best == max(total):
            wanted = [best * STEP, best * STEP**2]
        else:
            break
    of_tree = lowest_point(total)
    chosen = [_rounded(of_tree)] * (trial.tree.depth + 1)
    for level in losses[best]:
        if found.positive[found.level == level].sum() >= FEWEST_POSITIVES:
            of_level = lowest_point({C: losses[C][level] for C in total})
            chosen[level] = _rounded(math.sqrt(of_tree * of_level))
    return ChosenC(
        chosen,
        {C: [losses[C].get(level, math.nan) for level in range(len(chosen))] for C in total},
    )


def lowest_point(losses: dict[float, float]) -> float:
    """Return where the parabola through the smallest loss and its neighbours is lowest, in the logarithm of C.

    The losses are in the order of C, each STEP times the one before. At either end the best C itself is returned.

    Examples
    --------
    >>> round(lowest_point({1.0: 5.0, STEP: 4.0, STEP**2: 4.0}) / STEP, 2) == round(STEP**0.5, 2)
    True
    """
    values = list(losses)
    best = min(losses, key=lambda C: losses[C])
    at = values.index(best)
    if not 0 < at < len(values) - 1:
        return best
    left, middle, right = (losses[C] for C in values[at - 1 : at + 2])
    bend = left - 2 * middle + right
    return best * STEP ** (0.5 * (left - right) / bend) if bend > 0 else best


def _rounded(C: float) -> float:
    """Return C with two digits: more would only look precise."""
    return float(f"{C:.2g}")


def calibrated_loss(scores: TrialScores, judged_first: NDArray[np.bool_]) -> float:
    """Return the sum of the log losses of pairs with one C, each half by the map that fits the other half."""
    varies = np.abs(scores.score) < CERTAIN_SCORE  # constant nodes do not depend on C
    if not varies.any():
        return 0.0
    if not varies.all():
        scores, judged_first = scores.take(varies), judged_first[varies]
    score = scores.score.astype(np.float64)
    edges = bin_edges(score, scores.positive)
    halves = [
        ScoreBins.of(score[half], scores.positive[half], scores.weight[half], edges)
        for half in (judged_first, ~judged_first)
        if half.any()
    ]
    return sum(
        log_loss_of(judged, *fit_knots(fitted)) for judged, fitted in zip(halves, halves[::-1], strict=True)
    )

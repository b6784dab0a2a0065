"""Which scale of the weights would give the precision that the paper prints, if any does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from experiments.runner.figures import Mean
from experiments.runner.synthetic.sources import in_ball
from experiments.runner.synthetic.study import Setting, Size

#: Wide enough that scores go from all but none to all but certain.
SMALLEST, LARGEST = 1e-3, 1e4


@dataclass(frozen=True)
class Found:
    """The scale at which the ceiling is at a level, and the ceilings there; no scale if there is none."""

    scale: float | None
    ceiling: Mean


def ceilings(setting: Setting, scale: float, size: Size, seeds: Sequence[int]) -> list[float]:
    """The mean probability of the most probable label, of a source for each seed."""
    values = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        source = setting.source(size.n_labels, size.n_dimensions, scale, rng)
        X = in_ball(size.n_rows, size.n_dimensions, rng)
        values.append(float(source.marginals(X).max(axis=1).mean()))
    return values


def scale_for(setting: Setting, size: Size, seeds: Sequence[int]) -> Found:
    """The scale at which the mean ceiling is what the paper prints for label trees.

    Where no scale does, the ceilings are those of the nearest one that was tried.
    """
    level = setting.paper.tree[0] / 100

    def at(scale: float) -> Mean:
        return Mean.of(ceilings(setting, scale, size, seeds))

    lowest, highest = at(SMALLEST), at(LARGEST)
    if not lowest.value < level < highest.value:
        return Found(None, lowest if level <= lowest.value else highest)
    # The same seeds at every scale make the mean a smooth function of it.
    exponent = brentq(lambda e: at(10**e).value - level, np.log10(SMALLEST), np.log10(LARGEST), xtol=1e-3)
    scale = float(10**exponent)
    return Found(scale, at(scale))

"""Settings on the same rows: means of metrics over seeds, and differences with paired intervals over rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.judgement import judge
from labeltree.metrics.ranking import ranking_ratios

CUT_OFFS = (1, 3, 5)

#: The mean of P@1, P@3 and P@5, by which settings are chosen.
MEAN_PRECISION = "mean P"
METRICS = ("P@1", "P@3", "P@5", MEAN_PRECISION, "PSP@5", "nDCG@5")

#: Standard errors in half a 95 % interval.
_WIDTH = 1.96


@dataclass(frozen=True)
class Interval:
    """A difference in points, and its 95 % interval."""

    difference: float
    low: float
    high: float

    def reversed(self) -> Interval:
        return Interval(0.0 - self.difference, 0.0 - self.high, 0.0 - self.low)  # no -0.0

    def __str__(self) -> str:
        return f"{self.difference:+.2f} ({self.low:+.2f}, {self.high:+.2f})"


@dataclass(frozen=True)
class Scores:
    """What each row adds to the metrics, as the mean of several seeds; the mean over rows is the metric in per cent."""

    terms: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, y_true: Any, tops: Sequence[Any], inverse_propensity: Any) -> Scores:
        """The scores of the five best labels of each row, one array for each seed."""
        summed: dict[str, Any] = dict.fromkeys(METRICS, 0.0)
        for top in tops:
            judgement = judge(y_true, top, max(CUT_OFFS))
            ratios = ranking_ratios(judgement, CUT_OFFS, inverse_propensity)
            for name in METRICS:
                if name != MEAN_PRECISION:
                    numerator, denominator = ratios[name]
                    # The denominators are those of the true labels: the same for all settings.
                    summed[name] = summed[name] + 100 * numerator / denominator.mean() / len(tops)
        summed[MEAN_PRECISION] = sum(summed[f"P@{k}"] for k in CUT_OFFS) / len(CUT_OFFS)
        return cls(summed)

    def value(self, metric: str) -> float:
        return float(self.terms[metric].mean())

    def minus(self, other: Scores, metric: str) -> Interval:
        """The difference to other scores on the same rows."""
        differences = self.terms[metric] - other.terms[metric]
        mean = float(differences.mean())
        half = _WIDTH * float(differences.std(ddof=1)) / math.sqrt(len(differences))
        return Interval(mean, mean - half, mean + half)

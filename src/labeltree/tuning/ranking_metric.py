"""The ranking metric that a search maximises."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics import evaluate, inverse_propensity_of_counts

_NAMES = ("P", "nDCG", "recall", "coverage", "PSP", "PSnDCG")

#: The number of parts of the rows that the standard error of a difference is estimated from.
_N_PARTS = 20


@dataclass(frozen=True)
class RankingMetric:
    """The mean of a ranking metric over its cut-offs.

    Examples
    --------
    >>> RankingMetric.parse("P@1,3,5")
    RankingMetric(name='P', cutoffs=(1, 3, 5))
    """

    name: str
    cutoffs: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> RankingMetric:
        """Read a name such as ``"nDCG@3"`` or ``"PSP@1,3,5"``."""
        found = re.fullmatch(r"(\w+)@([1-9]\d{0,5}(?:,[1-9]\d{0,5})*)", text if isinstance(text, str) else "")
        if found is None or found[1] not in _NAMES:
            raise ValueError(
                f"metric must be one of {', '.join(_NAMES)} with cut-offs, such as 'P@1,3,5' or 'nDCG@3', got {text!r}"
            )
        return cls(found[1], tuple(int(k) for k in found[2].split(",")))

    @property
    def k(self) -> int:
        """The number of ranks that the metric needs."""
        return max(self.cutoffs)

    def scores(
        self, y_true: Any, ranking: NDArray[np.int64], counts: NDArray[np.int64], n_rows: int
    ) -> tuple[float, tuple[float, ...]]:
        """Return the score of all rows, and of each part; `counts` are those of labels in `n_rows` training rows."""
        weights = inverse_propensity_of_counts(counts, n_rows) if self.name.startswith("PS") else None

        def score(rows: slice) -> float:
            values = evaluate(y_true[rows], ranking[rows], self.cutoffs, inverse_propensity=weights)
            return float(np.mean([values[f"{self.name}@{k}"] for k in self.cutoffs]))

        n_parts = min(_N_PARTS, len(ranking))
        return score(slice(None)), tuple(score(slice(part, None, n_parts)) for part in range(n_parts))

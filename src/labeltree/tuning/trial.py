"""One model that a search trained and measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Trial:
    """One model that was trained and measured.

    Attributes
    ----------
    parameters : dict
        The parameters that are searched.
    n_rows : int
        The number of rows it was trained on.
    score : float
        The metric on the validation rows, from 0 to 1; larger is better.
    ms_per_row : float
        Milliseconds to predict a row of a small batch, with one thread.
    model_bytes : int
        The size of the model in memory, with float32 weights.
    seconds : float
        The time of training.
    part_scores : tuple of float
        The metric on each of several parts of the validation rows.
    """

    parameters: dict[str, Any]
    n_rows: int
    score: float
    ms_per_row: float
    model_bytes: int
    seconds: float
    part_scores: tuple[float, ...] = field(default=(), repr=False)

    def is_as_good_as(self, other: Trial) -> bool:
        """Return whether the score is at most two standard errors of the difference below the other's."""
        difference = np.subtract(other.part_scores, self.part_scores)
        if len(difference) < 2:
            return self.score >= other.score
        return other.score - self.score <= 2 * float(difference.std(ddof=1)) / math.sqrt(len(difference))

    def to_json(self) -> dict[str, Any]:
        """Return everything except the scores of the parts."""
        return {name: value for name, value in vars(self).items() if name != "part_scores"}

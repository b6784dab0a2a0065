"""What one model was like."""

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
        Those that are searched.
    n_rows : int
        How many rows it was trained on.
    score : float
        The metric, on the rows held out: from 0 to 1, the more the better.
    ms_per_row : float
        Milliseconds to answer a row of a small batch, by one thread.
    model_bytes : int
        What its weights take as float32 numbers, with all that belongs to them.
    seconds : float
        How long training took.
    part_scores : tuple of float
        The metric on each of some parts of those rows.
    """

    parameters: dict[str, Any]
    n_rows: int
    score: float
    ms_per_row: float
    model_bytes: int
    seconds: float
    part_scores: tuple[float, ...] = field(default=(), repr=False)

    def is_as_good_as(self, other: Trial) -> bool:
        """Whether its score is below the other's by no more than twice the standard error of the difference."""
        difference = np.subtract(other.part_scores, self.part_scores)
        if len(difference) < 2:
            return self.score >= other.score
        return other.score - self.score <= 2 * float(difference.std(ddof=1)) / math.sqrt(len(difference))

    def to_json(self) -> dict[str, Any]:
        """All but the scores of the parts."""
        return {name: value for name, value in vars(self).items() if name != "part_scores"}

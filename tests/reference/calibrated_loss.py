"""The log loss of pairs by isotonic maps, each half of the pairs judged by the map of the other half."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

FloatArray = NDArray[np.float64]


def calibrated_loss(
    score: FloatArray,
    positive: NDArray[np.bool_],
    weight: FloatArray,
    judged_first: NDArray[np.bool_],
) -> float:
    """Sum of the log losses of all pairs, by scikit-learn, without bins."""
    total = 0.0
    for judged in (judged_first, ~judged_first):
        fitted = IsotonicRegression(out_of_bounds="clip").fit(
            score[~judged], positive[~judged], sample_weight=weight[~judged]
        )
        for s, outcome, w in zip(score[judged], positive[judged], weight[judged], strict=True):
            p = float(np.clip(fitted.predict([s])[0], 0.001, 0.999))
            total -= w * np.log(p if outcome else 1 - p)
    return total

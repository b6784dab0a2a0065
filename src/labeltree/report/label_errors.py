"""The labels with the smallest F1."""

from __future__ import annotations

import numpy as np

from labeltree.metrics import FBeta
from labeltree.metrics.label_sets import IntArray
from labeltree.metrics.outcomes import Outcomes

#: The F1 of labels with fewer true rows is mostly noise.
FEWEST_ROWS = 10


def worst_labels(outcomes: Outcomes, n: int, fewest_rows: int = FEWEST_ROWS) -> IntArray:
    """Return the n labels with the smallest F1 and at least `fewest_rows` true rows; ties go to frequent labels.

    Examples
    --------
    >>> import numpy as np
    >>> outcomes = Outcomes(both=np.array([9, 5, 0]), only_true=np.array([1, 15, 4]), only_pred=np.array([1, 2, 0]))
    >>> worst_labels(outcomes, 2)
    array([1, 0])
    """
    n_true = outcomes.both + outcomes.only_true
    enough = np.flatnonzero(n_true >= fewest_rows)
    f1 = f1_of_labels(outcomes)[enough]
    return enough[np.lexsort((-n_true[enough], f1))][:n]


def f1_of_labels(outcomes: Outcomes) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the F1 of every label; 0 for a label that is neither true nor predicted."""
    n_true = outcomes.both + outcomes.only_true
    return FBeta(average="macro").value(outcomes.only_pred, outcomes.only_true, n_true, 1)

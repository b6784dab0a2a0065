"""The Pareto front: rows of costs that no other row beats."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def undominated(costs: ArrayLike) -> NDArray[np.bool_]:
    """Return whether each row is on the Pareto front: no other row is at most as large everywhere and smaller once.

    Examples
    --------
    >>> undominated([[1, 9], [5, 5], [6, 5], [9, 1]])
    array([ True,  True, False,  True])
    """
    table = np.asarray(costs, dtype=np.float64)
    no_more = (table[:, None] <= table[None]).all(axis=2)
    less = (table[:, None] < table[None]).any(axis=2)
    return np.logical_not((no_more & less).any(axis=0))


def layers(costs: ArrayLike) -> NDArray[np.int64]:
    """Return the layer of each row: 0 on the Pareto front, 1 on the front of the rows that are left, and so on.

    Examples
    --------
    >>> layers([[1, 9], [5, 5], [6, 5], [9, 1]])
    array([0, 0, 1, 0])
    """
    table = np.asarray(costs, dtype=np.float64)
    layer = np.full(len(table), -1, dtype=np.int64)
    left = np.arange(len(table))
    while len(left) > 0:
        layer[left] += 1
        left = left[~undominated(table[left])]
    return layer

"""What nothing else beats in everything."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def undominated(costs: ArrayLike) -> NDArray[np.bool_]:
    """Tell which rows of costs no other row undercuts: none is at most as much in all columns and less in one.

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
    """Number the layers of the rows: 0 for those undominated, 1 for those undominated without them, and so on.

    Examples
    --------
    >>> layers([[1, 9], [5, 5], [6, 5], [9, 1]])
    array([0, 0, 1, 0])
    """
    table = np.asarray(costs, dtype=np.float64)
    layer = np.full(len(table), -1, dtype=np.int64)
    number = 0
    while (layer < 0).any():
        left = np.flatnonzero(layer < 0)
        layer[left[undominated(table[left])]] = number
        number += 1
    return layer

"""Ranges of work: a sequence of items with costs, divided into tasks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: No stage has more tasks than this: each costs a message and a file.
MOST_TASKS = 4096


def ranges_of(cost: ArrayLike, most: float) -> list[tuple[int, int]]:
    """Divide items into ranges that cost about `most`; an item that costs more is a range by itself.

    Examples
    --------
    >>> ranges_of([1, 1, 1, 5, 1], 2)
    [(0, 2), (2, 3), (3, 4), (4, 5)]
    """
    costs: NDArray[np.float64] = np.asarray(cost, dtype=np.float64)
    before = np.concatenate([[0.0], np.cumsum(costs)])
    most = max(most, float(before[-1]) / MOST_TASKS)
    edges = [0]
    while edges[-1] < len(costs):
        # The last item that still fits, and at least one.
        end = int(np.searchsorted(before, before[edges[-1]] + most * (1 + 1e-9), side="right")) - 1
        edges.append(max(end, edges[-1] + 1))
    return list(pairwise(edges))

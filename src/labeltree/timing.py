"""The time that calls take."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def shortest_seconds(
    function: Callable[[Any], object], arguments: Sequence[Any], n_runs: int
) -> NDArray[np.float64]:
    """Call a function with each argument several times and return the shortest time of each, in seconds.

    The shortest time is the best estimate: other programs can only make a call slower.
    """
    shortest = np.full(len(arguments), np.inf)
    for _ in range(n_runs):
        for i, argument in enumerate(arguments):
            started = time.perf_counter()
            function(argument)
            shortest[i] = min(shortest[i], time.perf_counter() - started)
    return shortest

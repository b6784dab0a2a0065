"""Prediction in batches of a size. Only NumPy: it runs in the peers' environments."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

#: The maximum number of batches, the maximum number of their rows together, and the minimum number of batches. The
#: minimum wins.
MOST_SAMPLES, MOST_SAMPLED_ROWS, FEWEST_SAMPLES = 50, 5_000, 5


def time_batches(
    predict: Callable[[Any], object], batch_of: Callable[[Any], Any], n_rows: int, size: int, seed: int
) -> float:
    """Milliseconds per row of `predict` in batches of `size` out of `n_rows` rows, drawn at random as in the paper.

    That is processor time of all threads: the clock on the wall says little of small batches on a machine that does
    other work too. `batch_of` makes a batch of the numbers of its rows, which is not timed. A batch larger than there
    are rows has some of them several times.
    """
    rng = np.random.default_rng(seed)
    n_samples = max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_SAMPLED_ROWS // size))
    seconds = 0.0
    for _ in range(n_samples):
        batch = batch_of(rng.choice(n_rows, size, replace=size > n_rows))
        started = time.process_time()
        predict(batch)
        seconds += time.process_time() - started
    return seconds / (n_samples * size) * 1e3

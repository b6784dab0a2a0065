"""Batches of texts of similar length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: As many batches are drawn at random, and sorted by length, at a time.
_SORTED = 50


def random_batches(
    sizes: NDArray[np.int64], batch_size: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the rows of all batches of one pass: at random, but of similar length within a batch."""
    order = rng.permutation(len(sizes))
    batches: list[NDArray[np.int64]] = []
    for begin in range(0, len(order), _SORTED * batch_size):
        some = order[begin : begin + _SORTED * batch_size]
        some = some[np.argsort(sizes[some], kind="stable")]
        batches += [some[at : at + batch_size] for at in range(0, len(some), batch_size)]
    return [batches[at] for at in rng.permutation(len(batches))]


def batches_by_length(sizes: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    """Return the rows of batches of similar length, the longest first: what does not fit in memory fails at once."""
    order = np.argsort(-sizes, kind="stable")
    return [order[begin : begin + batch_size] for begin in range(0, len(order), batch_size)]

"""The length of hashed weight vectors that fits a memory budget."""

from __future__ import annotations

from labeltree.validation import LARGEST_INTEGER

BYTES_PER_MB = 2**20

#: Bytes of a float32 weight and of the solver's state for it: AdaGrad keeps a sum of squared gradients.
BYTES_PER_WEIGHT = {"adagrad": 8, "sgd": 4, "fobos": 4}

#: Bytes of the solver's state for all siblings together: FOBOS keeps how far the weights of a feature are shrunk.
BYTES_PER_ROW = {"adagrad": 0, "sgd": 0, "fobos": 8}


def hashed_length(memory_mb: float, expected_labels: int, solver: str) -> int:
    """Return the number of hashed features of each node, if all nodes have the same number.

    A tree of m labels has at most 2 m - 1 nodes with a classifier each. At most m of them are open and have an
    auxiliary classifier too. This makes 3 m vectors, in 2 m groups of siblings.

    Examples
    --------
    >>> hashed_length(64 * 1024, 3993, "adagrad")  # 64 GB for the labels of EurLex
    717080
    """
    # In addition to its features, a vector has a weight for the bias and a row of zeros.
    n_bytes = expected_labels * (3 * BYTES_PER_WEIGHT[solver] + 2 * BYTES_PER_ROW[solver])
    length = int(memory_mb * BYTES_PER_MB / n_bytes) - 2
    if length < 1:
        raise ValueError(
            f"memory_mb={memory_mb:g} leaves no weight for each of the 3 * {expected_labels} vectors that "
            f"{expected_labels} labels may need: give more memory, expect fewer labels, or use weights='shared'"
        )
    return min(length, LARGEST_INTEGER)


def shared_length(memory_mb: float, most_lanes: int, solver: str) -> int:
    """Return the number of weights in the table that all nodes share.

    Examples
    --------
    >>> shared_length(1, 16, "adagrad")
    131072
    """
    length = int(memory_mb * BYTES_PER_MB / BYTES_PER_WEIGHT[solver]) // 4 * 4
    if length < 2 * most_lanes:
        raise ValueError(
            f"memory_mb={memory_mb:g} is less than two nodes of {most_lanes} children need: give more memory"
        )
    return length

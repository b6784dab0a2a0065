"""How long hashed vectors may be, so that a model fits into the memory it is given."""

from __future__ import annotations

from labeltree.validation import LARGEST_INTEGER

BYTES_PER_MB = 2**20


#: Of a weight, a float32, with what the solver keeps beside it: AdaGrad has a sum of squared gradients.
BYTES_PER_WEIGHT = {"adagrad": 8, "sgd": 4, "fobos": 4}

#: Of what a solver keeps for all siblings together: FOBOS notes how far the weights of a feature have been shrunk.
BYTES_PER_ROW = {"adagrad": 0, "sgd": 0, "fobos": 8}


def hashed_length(memory_mb: float, expected_labels: int, solver: str) -> int:
    """How many hashed features each node can have if every node has as many.

    A tree of m labels has at most 2 m - 1 nodes with a classifier each, and at most m of them are open, with an
    auxiliary one besides: 3 m vectors, in 2 m groups of siblings.

    Examples
    --------
    >>> hashed_length(64 * 1024, 3993, "adagrad")  # 64 GB for the labels of EurLex
    717080
    """
    # Beside its features a vector has a weight for the bias and a row of zeros.
    n_bytes = expected_labels * (3 * BYTES_PER_WEIGHT[solver] + 2 * BYTES_PER_ROW[solver])
    length = int(memory_mb * BYTES_PER_MB / n_bytes) - 2
    if length < 1:
        raise ValueError(
            f"memory_mb={memory_mb:g} leaves no weight for each of the 3 * {expected_labels} vectors that "
            f"{expected_labels} labels may need: give more memory, expect fewer labels, or use weights='shared'"
        )
    return min(length, LARGEST_INTEGER)


def shared_length(memory_mb: float, most_lanes: int, solver: str) -> int:
    """How many weights the table has that all nodes share.

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

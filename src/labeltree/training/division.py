"""How the stages of a training are divided into tasks. No division changes the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.training.examples import Examples
from labeltree.training.memory_plan import LANES, TASK_BYTES_PER_ENTRY
from labeltree.training.ranges import ranges_of
from labeltree.training.workplace import Workplace

#: A task sums about this many values of features to label vectors.
ENTRIES_OF_VECTORS = 2e8
#: A task trains blocks that read about this many values in one pass over their rows, for 32 columns at once.
ENTRIES_OF_BLOCKS = 1e8
#: Subtrees with fewer labels are not clustered by tasks of their own.
LABELS_OF_SUBTREES = 20_000


def label_ranges(examples: Examples, workplace: Workplace) -> list[tuple[int, int]]:
    """Divide labels into ranges whose vectors are computed by one task."""
    labels = examples.labels
    if not workplace.is_divided:
        return [(0, labels.n_labels)]
    n_entries = max(array.size for array in examples.features.arrays)
    per_row = n_entries / max(examples.features.n_rows, 1)
    return ranges_of(labels.counts * per_row + 1, _most_entries(ENTRIES_OF_VECTORS, workplace))


def labels_of_subtree(n_labels: int, workplace: Workplace) -> int:
    """Return the largest number of labels of a subtree that a task may cluster; 0 to cluster the whole tree at once.

    A training that resumes is divided in every engine: another one may finish it. With a memory limit alone, all
    children of the root are subtrees: the top of the tree reads vectors from all over their file.
    """
    if workplace.is_here and workplace.identity is None:
        return n_labels - 1 if workplace.is_divided and n_labels > LABELS_OF_SUBTREES else 0
    return max(n_labels // 64, LABELS_OF_SUBTREES)


def subtree_ranges(begin: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Divide subtrees into ranges; subtree i has the labels from ``begin[i]`` to ``begin[i + 1]``."""
    return ranges_of(np.diff(begin), LABELS_OF_SUBTREES)


def block_ranges(costs: Mapping[str, NDArray[Any]], workplace: Workplace) -> list[tuple[int, int, float]]:
    """Divide blocks into ranges; return the first block, the one after the last, and the cost of each range."""
    work = costs["n_entries"].astype(np.float64) * -(-costs["n_columns"] // LANES)
    if not workplace.is_divided:
        return [(0, len(work), float(work.sum()))]
    before = np.concatenate([[0.0], np.cumsum(work)])
    return [
        (first, last, float(before[last] - before[first]))
        for first, last in ranges_of(work + 1, _most_entries(ENTRIES_OF_BLOCKS, workplace))
    ]


def _most_entries(usual: float, workplace: Workplace) -> float:
    """Return the number of values of features that a task may read."""
    if workplace.memory is None:
        return usual
    return min(usual, workplace.memory / TASK_BYTES_PER_ENTRY)

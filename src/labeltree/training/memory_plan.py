"""How much memory a training needs, and how it is divided to stay within a limit."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labeltree.training.examples import Examples

if TYPE_CHECKING:
    from labeltree.training.checkpoint import Checkpoint

#: Columns of a block that the kernel trains at once, and bytes of a value of a feature in a block's copy of its rows.
LANES, ENTRY_BYTES = 32, 8
#: Bytes of a row of a block for each thread: a number for each column, and others.
ROW_BYTES = 4 * LANES + 12
#: Clustering compares a sample of this many labels per centroid, and all labels in chunks of this many.
SAMPLE_ROWS, CHUNK_ROWS = 128, 8192
#: Bytes of a task for each value that it reads: the copy of its rows, its result, and the result on its way to disk.
TASK_BYTES_PER_ENTRY = 24
#: More memory makes no larger tasks: they read at most 200 million values.
MOST_TASK_BYTES = 200_000_000 * TASK_BYTES_PER_ENTRY
#: What a process has that could not be measured, and what a training needs however small it is.
UNKNOWN_BASE, LEAST = 300_000_000, 50_000_000


@dataclass(frozen=True)
class Needs:
    """The memory of the stages that cannot be divided further, in bytes.

    Attributes
    ----------
    vectors : int
        Clustering: the rows of each label, and for each thread the centroids of a node and the vectors of a sample.
    rows : int
        The rows of each node, until they are on disk.
    block : int
        The largest block, of the children of the root: a copy of its rows, and for each thread a number for each row
        and column.
    trial : int
        The choice of C and the calibration: the largest block, and for each row and column of it the C.
    labels : int
        The classifiers of labels that trees propose: the proposals for each row, by row and by label, and the rows of
        a group of labels for each thread.
    """

    vectors: int
    rows: int
    block: int
    trial: int = 0
    labels: int = 0

    @classmethod
    def of(
        cls,
        examples: Examples,
        n_threads: int,
        arity: int = 64,
        *,
        is_balanced: bool = False,
        has_trial: bool = True,
        n_proposals: int = 0,
    ) -> Needs:
        """Estimate the needs of a training.

        Clusters of equal size compare all labels with all centroids at once.
        """
        labels, features = examples.labels, examples.features
        n_pairs, n_labels, n_rows = len(labels.indices), labels.n_labels, features.n_rows
        n_entries = max(array.size for array in features.arrays) + n_rows
        per_label = min(n_entries / n_rows * n_pairs / n_labels, features.n_features)
        n_compared = min(SAMPLE_ROWS * arity, n_labels) + min(CHUNK_ROWS, n_labels)
        clustered = 8 * per_label * n_compared + 4 * arity * features.n_features
        # A tree of the default shape has about this many levels below the root.
        n_levels = max(int(np.ceil(np.log(max(n_labels, 2)) / np.log(64))), 1)
        block = (
            ENTRY_BYTES * n_entries
            + n_rows * (16 + n_threads * ROW_BYTES)
            + n_threads * 4 * LANES * features.n_features
        )
        n_assigned = n_pairs * (n_levels + 1)
        return cls(
            vectors=8 * n_pairs
            + (32 + 4 * arity * is_balanced) * n_labels
            + n_threads * int(9 * features.n_features + 4 * n_rows + clustered),
            rows=8 * n_assigned + 8 * (n_threads + 4) * n_labels,
            block=block,
            # Its largest blocks are trained one at a time.
            trial=has_trial * (block + 4 * LANES * n_rows),
            labels=0
            if n_proposals == 0
            else _of_label_classifiers(examples, n_threads, n_proposals, n_entries),
        )

    @property
    def least(self) -> int:
        """The memory that the training cannot do without."""
        largest: int = max(vars(self).values())
        return LEAST + largest


def _of_label_classifiers(examples: Examples, n_threads: int, n_proposals: int, n_entries: int) -> int:
    labels, n_features = examples.labels, examples.features.n_features
    n_pairs, n_rows = len(labels.indices), labels.n_rows
    n_proposed = n_rows * (n_proposals + -(-n_pairs // n_rows))
    # A label is proposed as often as it is frequent; the most frequent ones may be siblings.
    most_rows = int(np.sort(labels.counts)[-LANES:].sum()) * (1 + n_proposed / n_pairs)
    share = min(most_rows / n_rows, 1.0)
    group = share * (ENTRY_BYTES * n_entries + ROW_BYTES * n_rows) + 4 * LANES * n_features
    return 16 * n_proposed + 8 * n_pairs + 64 * labels.n_labels + int(n_threads * group)


def memory_for_tasks(limit_gb: float, needs: Needs) -> int:
    """Return the bytes that a limit leaves for tasks; raise `ValueError` if it does not suffice, and say what would."""
    limit, base = int(min(limit_gb * 1e9, sys.maxsize)), own_memory()
    if base + needs.least <= limit:
        return limit - base
    what = {
        "block": "the rows of the first level of the tree, which are trained together",
        "trial": "the rows of the first level of the tree, on which C is chosen and the model is calibrated",
        "labels": "the labels that rerank proposes for all rows",
        "rows": "the rows of all nodes",
        "vectors": "the rows and vectors of labels",
    }
    largest = max(what, key=lambda name: getattr(needs, name))
    raise ValueError(
        f"memory_gb={limit / 1e9:g} does not suffice: this training needs at least memory_gb="
        f"{np.ceil((base + needs.least) / 1e8) / 10:g}, {base / 1e9:.1f} GB that are in use now and "
        f"{needs.least / 1e9:.1f} GB for {what[largest]}; raise memory_gb, lower n_jobs, or train on fewer rows"
    )


def memory_of_run(memory: int | None, checkpoint: Checkpoint) -> int:
    """Return the memory of each task of a training with a checkpoint: the same each time, as the tasks must be.

    What a limit leaves for tasks differs a little from process to process. Raises `ValueError` if it is now much less.
    """
    memory = MOST_TASK_BYTES if memory is None else min(memory, MOST_TASK_BYTES)
    found = checkpoint.read(0)
    if found is None:
        checkpoint.write(0, {"memory": np.array([memory], dtype=np.int64)})
        return memory
    before = int(found["memory"][0])
    if before > 1.1 * memory + LEAST:
        raise ValueError(
            f"checkpoint: the tasks in {checkpoint.directory} may use {before / 1e9:.1f} GB each, but memory_gb leaves "
            f"only {memory / 1e9:.1f} GB now; raise memory_gb by {(before - memory) / 1e9:.1f}, or remove the "
            "directory to start again"
        )
    return before


def own_memory() -> int:
    """Return the bytes of anonymous and shared memory of this process."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return UNKNOWN_BASE
    sizes = dict(line.split(":", 1) for line in lines if line.startswith("Rss"))
    return 1024 * sum(
        int(sizes[name].removesuffix("kB")) for name in ("RssAnon", "RssShmem") if name in sizes
    )


def give_back_freed_memory() -> None:
    """Give freed memory back to the system: glibc keeps what many small arrays leave, and large ones cannot use it."""
    with suppress(AttributeError, OSError, TypeError):  # other C libraries have no such function
        ctypes.CDLL(None).malloc_trim(0)

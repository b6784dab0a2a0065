"""How much memory a training needs, and how it is divided to stay within a limit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labeltree.training.examples import Examples

if TYPE_CHECKING:
    from labeltree.training.checkpoint import Checkpoint

#: Columns of a block that the kernel trains at once, and bytes of a value of a feature in a block's copy of its rows.
LANES, ENTRY_BYTES = 32, 8
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
        The rows of each label, for label vectors and clustering.
    rows : int
        The rows of each node, until they are on disk.
    block : int
        The largest block, of the children of the root: a copy of its rows, and for each thread a number for each row
        and column.
    """

    vectors: int
    rows: int
    block: int

    @classmethod
    def of(cls, examples: Examples, n_threads: int, balanced_lanes: int = 0) -> Needs:
        """Estimate the needs of a training.

        Clusters of equal size compare all labels with `balanced_lanes` centroids at once.
        """
        labels, features = examples.labels, examples.features
        n_pairs, n_labels, n_rows = len(labels.indices), labels.n_labels, features.n_rows
        n_entries = max(array.size for array in features.arrays) + n_rows
        per_thread = 9 * features.n_features + 4 * n_rows
        # A tree of the default shape has about this many levels below the root.
        n_levels = max(int(np.ceil(np.log(max(n_labels, 2)) / np.log(64))), 1)
        return cls(
            vectors=8 * n_pairs + (32 + 4 * balanced_lanes) * n_labels + n_threads * per_thread,
            rows=8 * n_pairs * (n_levels + 1) + 8 * (n_threads + 4) * n_labels,
            block=ENTRY_BYTES * n_entries
            + n_rows * (16 + n_threads * (4 * LANES + 12))
            + n_threads * 4 * LANES * features.n_features,
        )

    @property
    def least(self) -> int:
        """The memory that the training cannot do without."""
        return LEAST + max(self.vectors, self.rows, self.block)


def check_memory(limit: int, base: int, needs: Needs) -> None:
    """Raise `ValueError` if a training cannot keep within a limit; the message says what would do."""
    if base + needs.least <= limit:
        return
    largest = max(("block", "rows", "vectors"), key=lambda name: getattr(needs, name))
    what = {
        "block": "the rows of the first level of the tree, which are trained together",
        "rows": "the rows of all nodes",
        "vectors": "the rows of all labels",
    }[largest]
    raise ValueError(
        f"memory_gb={limit / 1e9:g} does not suffice: this training needs at least memory_gb="
        f"{np.ceil((base + needs.least) / 1e8) / 10:g}, {base / 1e9:.1f} GB that are in use now and "
        f"{needs.least / 1e9:.1f} GB for {what}; raise memory_gb, lower n_jobs, or train on fewer rows"
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

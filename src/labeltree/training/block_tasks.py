"""The training of nodes as tasks: the rows of every node, then the sibling blocks, range by range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labeltree import _native
from labeltree.engines import Task
from labeltree.model.block_weights import compact
from labeltree.model.rounding import rounded
from labeltree.training.array_folder import Arrays
from labeltree.training.division import block_ranges
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.shared_examples import SharedExamples, share_examples
from labeltree.training.shared_tree import SharedTree, share_tree
from labeltree.trees import LabelTree

if TYPE_CHECKING:
    from labeltree.training.linear_nodes import SolverSettings

#: Arrays that tell what blocks cost; the others of `rows_of_nodes` are the rows.
_COSTS = ("n_rows", "n_entries", "n_columns")
#: Arrays of offsets among those of blocks; see `native/model/block_arrays.h`.
_OFFSETS = ("index_begin", "block_entry_begin", "code_begin")
#: The counts in a report, and those that do not add up: their largest value counts.
_COUNTS = ("n_columns", "n_unconverged", "n_constant", "n_row_visits", "n_pruned", "n_passes", "n_joint")
_LARGEST = ("n_passes",)
_REPORT = "report "


def train_blocks(
    tree: LabelTree, examples: Examples, settings: SolverSettings, seed: int, run: Run
) -> tuple[Arrays, dict[str, int]]:
    """Train all nodes of a tree; return the arrays of its blocks and a report.

    A block depends on its number, its rows and its columns only: ranges of blocks, joined, are the whole.
    """
    workplace = run.workplace
    shared, shared_tree = share_examples(examples, workplace), share_tree(tree, workplace)
    find_rows = Task(
        "rows of all nodes",
        rows_of_nodes,
        (shared, shared_tree, settings, run.n_threads),
        n_threads=run.n_threads,
    )
    found = run.result(f"finding the rows of {tree.n_nodes:,} nodes", find_rows)
    costs = {name: found.pop(name) for name in _COSTS}
    rows = workplace.share("rows-of-nodes", found)
    del found  # if they are on disk, they need no memory
    tasks = [
        Task(
            f"blocks {first} to {last - 1}",
            blocks_in_range,
            (shared, shared_tree, rows, settings, seed, run.task_threads, first, last),
            cost=cost,
        )
        for first, last, cost in block_ranges(costs, workplace)
    ]
    title = f"training {tree.n_nodes:,} nodes"
    arrays = dict(run.joined("blocks", title, tasks, offsets=_OFFSETS).open())
    report = _joined_report(arrays)
    return arrays, report


def rows_of_nodes(
    examples: SharedExamples,
    tree: SharedTree,
    settings: SolverSettings,
    n_threads: int,
    progress: _native.Progress | None = None,
) -> Arrays:
    """Find the rows of every node, and what its block costs: a task."""
    label_tree, opened, progress = tree.open(), examples.open(), progress or _native.Progress()
    options = settings.options(0, n_threads, label_tree)
    rows: Arrays = _native.assign_rows(label_tree.native, opened, n_threads, progress)
    costs: Arrays = _native.block_costs(label_tree.native, opened, rows, options, progress)
    return {**rows, **costs}


def blocks_in_range(
    examples: SharedExamples,
    tree: SharedTree,
    rows: SharedArrays,
    settings: SolverSettings,
    seed: int,
    n_threads: int,
    first: int,
    last: int,
    progress: _native.Progress | None = None,
) -> Arrays:
    """Train some blocks, and round their weights: a task. The report is among the arrays."""
    label_tree = tree.open()
    arrays: dict[str, Any] = _native.train_blocks(
        label_tree.native,
        examples.open(),
        settings.options(seed, n_threads, label_tree),
        progress or _native.Progress(),
        rows.open(),
        first,
        last,
    )
    report = arrays.pop("report")
    arrays = rounded(compact(arrays, label_tree), settings.weights, label_tree, n_threads, (first, last))
    return {**arrays, **{_REPORT + name: np.array([count]) for name, count in report.items()}}


def _joined_report(arrays: Arrays) -> dict[str, int]:
    """Take the report out of the arrays of all parts; each count has a value for each part."""
    counts = {name: arrays.pop(_REPORT + name) for name in _COUNTS if _REPORT + name in arrays}
    return {name: int(values.max() if name in _LARGEST else values.sum()) for name, values in counts.items()}

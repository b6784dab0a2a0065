"""Clustering as tasks: the top of the tree, then the subtrees below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.engines import Task
from labeltree.training.division import labels_of_subtree, subtree_ranges
from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.shared_examples import SharedExamples, share_examples
from labeltree.training.shared_features import SharedFeatures
from labeltree.trees.subtree_vectors import SubtreeVectors, subtree_vectors
from labeltree.trees.tree import LabelTree
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.training.array_folder import Arrays
    from labeltree.training.examples import Examples
    from labeltree.training.run import Run

#: The keyword arguments of `_native.ClusteringOptions`.
Options = Mapping[str, Any]


def clustered_tree(
    vectors: SharedFeatures, examples: Examples, options: Options, run: Run, *, are_computed: bool
) -> LabelTree:
    """Return the tree of hierarchical k-means over label vectors, which are computed or the user's.

    A node's clusters depend on its labels and its path only. So the subtrees below the first levels are independent.
    """
    workplace, n_labels = run.workplace, examples.labels.n_labels
    shared = share_examples(examples, workplace)
    options = {**options, "n_threads": run.task_threads}
    title = f"clustering {count_text(n_labels, 'label')}"
    most_labels = labels_of_subtree(n_labels, workplace)
    # No other task runs beside the top of the tree.
    of_top = {**options, "n_threads": run.n_threads}
    top_task = Task(
        f"top of a tree of {n_labels} labels",
        top_of_tree,
        (shared, vectors, of_top, most_labels),
        n_threads=run.n_threads,
    )
    [top] = run.parts("tree-top", title, [top_task])
    if len(top["open_node"]) == 0:
        return LabelTree(top["child_begin"], top["label"])
    opened = workplace.share("open-nodes", top)
    with subtree_vectors(vectors, top, run, are_computed=are_computed) as of_subtrees:
        tasks = [
            Task(
                f"subtrees {first} to {last - 1}",
                subtrees_in_range,
                (shared, of_subtrees, options, opened, first, last),
                cost=float(top["open_begin"][last] - top["open_begin"][first]),
            )
            for first, last in subtree_ranges(top["open_begin"])
        ]
        subtrees = [tree for part in run.parts("subtrees", title, tasks) for tree in _separated(part)]
    return LabelTree(*_native.join_subtrees(top["child_begin"], top["label"], top["open_node"], subtrees))


def top_of_tree(
    examples: SharedExamples,
    vectors: SharedFeatures,
    options: Options,
    most_labels: int,
    progress: _native.Progress | None = None,
) -> Arrays:
    """Build the levels of nodes with more than `most_labels` labels; 0 for the whole tree: a task."""
    arrays: Arrays = _native.cluster_top(
        vectors.open(),
        examples.open(),
        _native.ClusteringOptions(**options),
        progress or _native.Progress(),
        most_labels,
    )
    return arrays


def subtrees_in_range(
    examples: SharedExamples,
    vectors: SubtreeVectors,
    options: Options,
    top: SharedArrays,
    first: int,
    last: int,
    progress: _native.Progress | None = None,
) -> Arrays:
    """Build the subtrees below some open nodes: a task."""
    arrays, kernel_options = top.open(), _native.ClusteringOptions(**options)
    begin, labels = arrays["open_begin"], arrays["open_label"]
    trees = [
        _native.cluster_subtree(
            vectors.open(arrays, number),
            examples.open(),
            kernel_options,
            labels[begin[number] : begin[number + 1]],
            int(arrays["open_n_seen"][number]),
            int(arrays["open_depth"][number]),
            int(arrays["open_seed"][number]),
            progress or _native.Progress(),
        )
        for number in range(first, last)
    ]
    return {
        "n_nodes": np.array([len(label) for _, label in trees], dtype=np.int64),
        "child_begin": np.concatenate([child_begin for child_begin, _ in trees]),
        "label": np.concatenate([label for _, label in trees]),
    }


def _separated(part: Arrays) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield the trees of a result of `subtrees_in_range`. A tree has one more `child_begin` than nodes."""
    end = np.cumsum(part["n_nodes"])
    for number, (first, last) in enumerate(zip(end - part["n_nodes"], end, strict=True)):
        yield part["child_begin"][first + number : last + number + 1], part["label"][first:last]

"""The cost of training on an example: the number of nodes in which it takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from labeltree.trees.checks import Int32Array

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

# Labels that are looked at together; bounds the memory whatever the number of rows.
_LABELS_PER_CHUNK = 1 << 22


def training_cost(tree: LabelTree, y: Any) -> NDArray[np.int64]:
    """Return the training cost of each row of ``y``; see ``LabelTree.training_cost``."""
    # A positive node costs its children; the root is always asked.
    return 1 + sum_over_positive_nodes(tree, y, np.diff(tree.child_begin))


def sum_over_positive_nodes(tree: LabelTree, y: Any, cost_of_node: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each row of ``y`` the sum of the costs of all nodes with one of its labels at or below them."""
    if getattr(y, "ndim", None) != 2:
        raise ValueError(f"y must be a sparse matrix or a 2-d array, but is of type {type(y).__name__}")
    y = csr_array(y)
    if y.shape[1] != tree.n_labels:
        raise ValueError(f"y must have a column per label, that is {tree.n_labels}, but has {y.shape[1]}")

    # Positive nodes of a row are the union of its labels' paths.
    path_cost = cost_of_node.astype(np.int64)
    for level in tree.levels()[1:]:
        nodes = slice(level.start, level.stop)
        path_cost[nodes] += path_cost[tree.parent[nodes]]
    leaf_rank = np.empty(tree.n_labels, dtype=np.int64)
    leaf_rank[tree.labels_under(0)] = np.arange(tree.n_labels)

    cost = np.zeros(y.shape[0], dtype=np.int64)
    row = 0
    while row < y.shape[0]:
        # As many rows as fit in a chunk, and one at least.
        stop = int(np.searchsorted(y.indptr, y.indptr[row] + _LABELS_PER_CHUNK, side="right")) - 1
        stop = min(max(stop, row + 1), y.shape[0])
        entries = slice(y.indptr[row], y.indptr[stop])
        positive = y.data[entries] != 0
        labels = y.indices[entries][positive]
        rows = np.repeat(np.arange(row, stop), np.diff(y.indptr[row : stop + 1]))[positive]

        # With a row's leaves from left to right, the paths of neighbours share just what was counted already.
        left_to_right = np.lexsort((leaf_rank[labels], rows))
        rows, leaves = rows[left_to_right], tree.leaf_of_label[labels[left_to_right]]
        np.add.at(cost, rows, path_cost[leaves])
        same_row = rows[1:] == rows[:-1]
        shared = _lowest_common_ancestor(tree.parent, leaves[:-1][same_row], leaves[1:][same_row])
        np.subtract.at(cost, rows[1:][same_row], path_cost[shared])
        row = stop
    return cost


def _lowest_common_ancestor(parent: Int32Array, first: Int32Array, second: Int32Array) -> Int32Array:
    """Return the lowest common ancestor of every pair of nodes."""
    first, second = first.copy(), second.copy()
    apart = np.flatnonzero(first != second)
    while apart.size > 0:
        # Breadth first, an ancestor has a smaller number: the larger of the two is never the common one.
        a, b = first[apart], second[apart]
        first[apart] = np.where(a > b, parent[a], a)
        second[apart] = np.where(b > a, parent[b], b)
        apart = apart[first[apart] != second[apart]]
    return first

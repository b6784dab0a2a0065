"""The cost of training on an example: the number of nodes that learn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.trees.checks import Int32Array

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

# The number of labels in a chunk, which bounds the memory.
_LABELS_PER_CHUNK = 1 << 22


def training_cost(tree: LabelTree, y: Any) -> NDArray[np.int64]:
    """Return for each row of ``y`` the number of nodes that learn from it.

    These nodes are the root and every child of a node with a label of the row below it. A row without labels costs 1.
    The maximum is ``1 + number of labels * depth * arity``.

    Parameters
    ----------
    y : sparse matrix or array of shape (n_rows, n_labels)
        The labels of each row: the entries that are not zero.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], [2, 3]])
    >>> tree.training_cost(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1]]))
    array([1, 5, 5, 7])
    """
    # A positive node costs its children. The root is always evaluated.
    return 1 + sum_over_positive_nodes(tree, y, np.diff(tree.child_begin))


def sum_over_positive_nodes(tree: LabelTree, y: Any, cost_of_node: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return for each row of ``y`` the summed cost of all nodes that have a label of the row at or below them."""
    if getattr(y, "ndim", None) != 2:
        raise ValueError(f"y must be a sparse matrix or a 2-d array, but is of type {type(y).__name__}")
    y = sp.csr_array(y)
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
        # As many rows as fit in a chunk, at least one.
        stop = int(np.searchsorted(y.indptr, y.indptr[row] + _LABELS_PER_CHUNK, side="right")) - 1
        stop = min(max(stop, row + 1), y.shape[0])
        entries = slice(y.indptr[row], y.indptr[stop])
        positive = y.data[entries] != 0
        labels = y.indices[entries][positive]
        rows = np.repeat(np.arange(row, stop), np.diff(y.indptr[row : stop + 1]))[positive]

        # With leaves from left to right, a path shares with the previous path the part that is counted already.
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
        # Ancestors have smaller numbers, so the larger node of a pair is never the common ancestor.
        a, b = first[apart], second[apart]
        first[apart] = np.where(a > b, parent[a], a)
        second[apart] = np.where(b > a, parent[b], b)
        apart = apart[first[apart] != second[apart]]
    return first

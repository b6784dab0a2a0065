"""Huffman's tree: frequent labels have short paths."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from labeltree.trees.builders import builder
from labeltree.trees.parameters import check_builder, check_counts
from labeltree.trees.tree import LabelTree


@builder("huffman")
def huffman_tree(counts: ArrayLike, arity: int = 32) -> LabelTree:
    """Return Huffman's tree, which has the shortest paths on average over label occurrences for its arity.

    It is the cheapest tree if every example has exactly one label. With several labels per example other trees are
    cheaper, because the labels of an example share parts of their paths. Similar labels are not near each other.

    Parameters
    ----------
    counts : array of shape (n_labels,)
        The number of rows with each label; 0 is allowed. In a tie, leaves are merged before inner nodes and smaller
        labels before larger ones. So the tree is deterministic, and no tree with equally short paths is shallower.
    arity : int
        The number of children of a node. One of the deepest nodes may have fewer.

    Examples
    --------
    >>> from labeltree.trees import huffman_tree
    >>> huffman_tree([50, 2, 20, 1, 10], arity=2).to_nested()
    [0, [2, [4, [1, 3]]]]
    >>> huffman_tree([50, 2, 20, 1, 10], arity=3).to_nested()
    [0, 2, [1, 3, 4]]
    """
    check_builder("huffman_tree", arity=arity)
    count = check_counts(counts)
    n_labels = count.size
    # Both queues ascend, because merged nodes get larger. So the smallest node is at the front of one of them.
    leaves = deque(np.argsort(count, kind="stable").tolist())
    inner: deque[int] = deque()
    weight = count.tolist()
    parent = [-1] * n_labels
    # The first merge takes the remainder, so that all other merges take `arity` nodes.
    n_merged = 2 + (n_labels - 2) % (arity - 1) if n_labels > 1 else 1
    while True:
        node = len(weight)
        weight.append(0.0)
        parent.append(-1)
        for _ in range(min(n_merged, arity)):
            from_leaves = leaves and (not inner or weight[leaves[0]] <= weight[inner[0]])
            child = leaves.popleft() if from_leaves else inner.popleft()
            parent[child] = node
            weight[node] += weight[child]
        if not leaves and not inner:
            break
        inner.append(node)
        n_merged = arity
    label = np.full(len(parent), -1)
    label[:n_labels] = np.arange(n_labels)
    return LabelTree.from_parents(parent, label)

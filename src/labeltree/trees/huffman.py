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
    """Return Huffman's tree: of all trees of this arity, one with the shortest paths for labels drawn by count.

    It is the cheapest tree where every example has exactly one label; with several labels per example it is not,
    as their paths share nodes in other trees. It knows nothing of which labels are alike.

    Parameters
    ----------
    counts : array of shape (n_labels,)
        How often each label occurs; 0 is allowed. Where counts are equal, labels come before the nodes above them
        and smaller numbers before larger ones, so the tree is always the same, and of those with the shortest
        paths one of the least depth.
    arity : int
        The number of children of a node; only one of the deepest may have fewer.

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
    # Both ascend: nodes are made of ever larger ones. So the smallest of all is always at the front of one.
    leaves = deque(np.argsort(count, kind="stable").tolist())
    inner: deque[int] = deque()
    weight = count.tolist()
    parent = [-1] * n_labels
    # The first merge takes what is over, so that all others are of `arity` nodes, the root's too.
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

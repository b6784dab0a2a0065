"""Balanced trees with the labels in random order."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.trees.builders import builder
from labeltree.trees.parameters import check_builder
from labeltree.trees.tree import LabelTree


@builder("random")
def random_tree(
    n_labels: int,
    arity: int = 32,
    max_leaves: int = 100,
    *,
    max_depth: int | None = None,
    random_state: Any = None,
) -> LabelTree:
    """Return a balanced tree with the labels in random order.

    It has the shape of the balanced tree that `kmeans_tree` makes of labels that all have examples, with no label
    taken as frequent: what the two differ by is the worth of clustering.

    Parameters
    ----------
    n_labels : int
    arity : int
        The largest number of parts that the labels of a node are split into.
    max_leaves : int
        A node with at most so many labels has them as its children.
    max_depth : int, optional
        The largest number of edges from the root to a label.
    random_state : int, RandomState or None
        The seed of the order.

    Examples
    --------
    >>> from labeltree.trees import random_tree
    >>> random_tree(7, arity=2, max_leaves=2, random_state=0).to_nested()
    [[[6, 2], [1, 3]], [[0, 5], 4]]
    """
    check_builder("random_tree", n_labels=n_labels, arity=arity, max_leaves=max_leaves, max_depth=max_depth)
    order = check_random_state(random_state).permutation(n_labels)
    parent, label = [np.array([-1])], [np.array([-1])]
    n_nodes = 1
    level = [(0, 0, n_labels)]  # a node, and the part of the order that is below it
    depth = 0
    while level:
        below = []
        for node, begin, end in level:
            is_last = max_depth is not None and depth + 1 >= max_depth
            if end - begin <= max_leaves or is_last:
                n_children = end - begin
                label.append(order[begin:end])
            else:
                bounds = _even_bounds(
                    begin, end, _even_arity(end - begin, depth, arity, max_leaves, max_depth)
                )
                n_children = len(bounds) - 1
                alone = np.diff(bounds) == 1
                label.append(np.where(alone, order[bounds[:-1]], -1))
                below += [
                    (n_nodes + child, int(bounds[child]), int(bounds[child + 1]))
                    for child in np.flatnonzero(~alone).tolist()
                ]
            parent.append(np.full(n_children, node))
            n_nodes += n_children
        level = below
        depth += 1
    return LabelTree.from_parents(np.concatenate(parent), np.concatenate(label))


def _even_bounds(begin: int, end: int, n_parts: int) -> Any:
    """The bounds of parts as even as can be, the larger ones first and none of them empty."""
    n_parts = min(n_parts, end - begin)
    size, n_larger = divmod(end - begin, n_parts)
    part = np.arange(n_parts + 1)
    return begin + part * size + np.minimum(part, n_larger)


def _even_arity(n_labels: int, depth: int, arity: int, max_leaves: int, max_depth: int | None) -> int:
    """The smallest arity with which even parts need no more levels than with the largest one allowed."""
    n_preleaves = -(-n_labels // max_leaves)
    most_levels = 32 if max_depth is None else max_depth - 1 - depth
    levels = 1
    while levels < most_levels and arity**levels < n_preleaves:
        levels += 1
    parts = 2
    while parts < arity and parts**levels < n_preleaves:
        parts += 1
    return parts

"""Balanced trees with the labels in random order."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from labeltree import scikit_learn
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

    It has the shape of the balanced tree of `kmeans_tree` with ``frequent_share=0``, if all labels have examples.
    Compare the two to see what clustering is worth.

    Parameters
    ----------
    n_labels : int
    arity : int
        Maximum number of parts that the labels of a node are split into.
    max_leaves : int
        Maximum number of labels that are not split further.
    max_depth : int, optional
        Maximum number of edges from the root to a label.
    random_state : int, RandomState or None
        The seed of the order.

    Examples
    --------
    >>> from labeltree.trees import random_tree
    >>> random_tree(7, arity=2, max_leaves=2, random_state=0).to_nested()
    [[[6, 2], [1, 3]], [[0, 5], 4]]
    """
    check_builder("random_tree", n_labels=n_labels, arity=arity, max_leaves=max_leaves, max_depth=max_depth)
    parents, labels, n_nodes = [np.array([-1])], [np.array([-1])], 1
    waiting = deque([(0, 0, scikit_learn.check_random_state(random_state).permutation(n_labels))])
    while waiting:
        node, depth, below = waiting.popleft()
        if below.size <= max_leaves or depth + 1 == max_depth:
            children = below
        else:
            n_parts = _even_arity(below.size, depth, arity, max_leaves, max_depth)
            parts = np.array_split(below, min(n_parts, below.size))
            children = np.array([part[0] if part.size == 1 else -1 for part in parts])
            waiting += [
                (n_nodes + child, depth + 1, part) for child, part in enumerate(parts) if part.size > 1
            ]
        parents.append(np.full(children.size, node))
        labels.append(children)
        n_nodes += children.size
    return LabelTree.from_parents(np.concatenate(parents), np.concatenate(labels))


def _even_arity(n_labels: int, depth: int, arity: int, max_leaves: int, max_depth: int | None) -> int:
    """Return the smallest arity that needs no more levels than the maximum arity does."""
    n_preleaves = -(-n_labels // max_leaves)
    most_levels = 32 if max_depth is None else max_depth - 1 - depth
    levels = 1
    while levels < most_levels and arity**levels < n_preleaves:
        levels += 1
    parts = 2
    while parts < arity and parts**levels < n_preleaves:
        parts += 1
    return parts

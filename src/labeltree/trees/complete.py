"""The complete tree, with the most frequent labels first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from labeltree.trees.builders import builder
from labeltree.trees.parameters import check_builder, check_counts
from labeltree.trees.tree import LabelTree


@builder("complete")
def complete_tree(counts: ArrayLike, arity: int = 32) -> LabelTree:
    """Return the complete tree whose leaves, from the top down and from left to right, are ever rarer labels.

    All nodes have `arity` children, but for one of the last level but one; all levels are full, but for the
    last, which is filled from the left. The first PLT had such a tree: it costs nothing to build and knows
    nothing of which labels are alike.

    Parameters
    ----------
    counts : array of shape (n_labels,)
        How often each label occurs. Of labels that occur as often, the one with the smaller number is first.
    arity : int
        The number of children of a node.

    Examples
    --------
    >>> from labeltree.trees import complete_tree
    >>> complete_tree([5, 90, 8, 7, 20], arity=2).to_nested()
    [[[3, 0], 1], [4, 2]]
    """
    check_builder("complete_tree", arity=arity)
    by_frequency = np.argsort(-check_counts(counts), kind="stable")
    n_labels = by_frequency.size
    # An inner node takes one node and gives back `arity`, so that many make leaves enough of one root.
    n_inner = max(1, -(-(n_labels - 1) // (arity - 1)))
    n_nodes = n_inner + n_labels
    child_begin = np.minimum(np.arange(n_nodes + 1, dtype=np.int64) * arity + 1, n_nodes)
    return LabelTree(child_begin, np.concatenate([np.full(n_inner, -1), by_frequency]))

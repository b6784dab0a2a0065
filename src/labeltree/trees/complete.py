"""The complete tree, with the most frequent labels first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from labeltree.trees.builders import builder
from labeltree.trees.parameters import check_builder, check_counts
from labeltree.trees.tree import LabelTree


@builder("complete")
def complete_tree(counts: ArrayLike, arity: int = 32) -> LabelTree:
    """Return the complete tree with the most frequent labels first, from the top down and from left to right.

    All inner nodes have `arity` children, except one node above the last level. All levels are full, except the last
    level, which is filled from the left. The first PLT had such a tree. It is built at almost no cost, but similar
    labels are not near each other.

    Parameters
    ----------
    counts : array of shape (n_labels,)
        The number of rows with each label. Labels with equal counts are ordered by number.
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
    # An inner node replaces one leaf by `arity` leaves: the number of inner nodes that make one leaf into n_labels.
    n_inner = max(1, -(-(n_labels - 1) // (arity - 1)))
    n_nodes = n_inner + n_labels
    child_begin = np.minimum(np.arange(n_nodes + 1, dtype=np.int64) * arity + 1, n_nodes)
    return LabelTree(child_begin, np.concatenate([np.full(n_inner, -1), by_frequency]))

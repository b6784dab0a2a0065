"""Trees made shallower: several layers of inner nodes merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labeltree.trees.parameters import check_builder

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree


def collapse(tree: LabelTree, layers: int) -> LabelTree:
    """Return the tree with every ``layers`` layers of inner nodes merged into one.

    The children of a node are then its descendants ``layers`` levels down and the leaves above these.
    For example, a binary tree becomes a tree of arity ``2 ** layers``.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> LabelTree.from_nested([[[[0, 1], [2, 3]], [4, 5]], 6]).collapse(2).to_nested()
    [6, [0, 1, 2, 3], [4, 5]]
    """
    check_builder("collapse", layers=layers)
    stays = tree.is_leaf | (tree.depth_of_node % layers == 0)
    # From the top down: the lowest node above each node that stays.
    above = np.full(tree.n_nodes, -1, dtype=np.int32)
    for level in tree.levels()[1:]:
        nodes = slice(level.start, level.stop)
        parent = tree.parent[nodes]
        above[nodes] = np.where(stays[parent], parent, above[parent])
    new_number = np.cumsum(stays, dtype=np.int32) - 1
    parent = above[stays]
    parent[1:] = new_number[parent[1:]]
    return tree.from_parents(parent, tree.label[stays])

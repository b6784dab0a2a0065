"""Trees made shallower: several layers of inner nodes merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labeltree.trees.parameters import check_builder

if TYPE_CHECKING:
    from labeltree.trees.checks import Int32Array
    from labeltree.trees.tree import LabelTree


def collapse(tree: LabelTree, layers: int) -> tuple[Int32Array, Int32Array]:
    """Return the parent and the label of each node that stays; see ``LabelTree.collapse``."""
    check_builder("collapse", layers=layers)
    stays = tree.is_leaf | (tree.depth_of_node % layers == 0)
    # From the top down, every node learns the lowest node above it that stays.
    above = np.full(tree.n_nodes, -1, dtype=np.int32)
    for level in tree.levels()[1:]:
        nodes = slice(level.start, level.stop)
        parent = tree.parent[nodes]
        above[nodes] = np.where(stays[parent], parent, above[parent])
    new_number = np.cumsum(stays, dtype=np.int32) - 1
    parent = above[stays]
    parent[1:] = new_number[parent[1:]]
    return parent, tree.label[stays]

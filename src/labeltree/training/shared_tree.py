"""A tree that the tasks of a training share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.workplace import Workplace
from labeltree.trees.tree import LabelTree


class SharedTree(Protocol):
    """A handle of a tree, as an argument of tasks."""

    def open(self) -> LabelTree:
        """Return the tree, wherever this runs."""


@dataclass(frozen=True, eq=False)
class HeldTree:
    """A tree for tasks that run in this process."""

    tree: LabelTree

    def open(self) -> LabelTree:
        return self.tree


@dataclass(frozen=True)
class FiledTree:
    """A tree in files, which every worker maps."""

    arrays: SharedArrays

    def open(self) -> LabelTree:
        return _opened(self)


def share_tree(tree: LabelTree, workplace: Workplace) -> SharedTree:
    """Return a handle of a tree for the tasks of a workplace."""
    if workplace.is_here:
        return HeldTree(tree)
    return FiledTree(workplace.share("tree", {"child_begin": tree.child_begin, "label": tree.label}))


@lru_cache(maxsize=2)
def _opened(filed: FiledTree) -> LabelTree:
    arrays = filed.arrays.open()
    return LabelTree(arrays["child_begin"], arrays["label"])

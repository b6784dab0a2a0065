"""Label trees: the data structure, and the ways to make one."""

from labeltree.trees.taxonomy import Taxonomy
from labeltree.trees.tree import LabelTree

__all__ = ["LabelTree", "Taxonomy"]

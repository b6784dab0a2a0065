"""Label trees: the data structure, and the functions that build one."""

from importlib import import_module
from pkgutil import iter_modules

from labeltree.trees.builders import BUILDERS
from labeltree.trees.complete import complete_tree
from labeltree.trees.expected_cost import TreeCost, cheapest_tree
from labeltree.trees.flat import flat_tree
from labeltree.trees.huffman import huffman_tree
from labeltree.trees.kmeans import kmeans_tree
from labeltree.trees.random_balanced import random_tree
from labeltree.trees.taxonomy import Taxonomy
from labeltree.trees.tree import LabelTree

__all__ = [
    "TREE_WORDS",
    "LabelTree",
    "Taxonomy",
    "TreeCost",
    "cheapest_tree",
    "complete_tree",
    "flat_tree",
    "huffman_tree",
    "kmeans_tree",
    "random_tree",
]

# Every module of this package may register a builder.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

#: The words that the parameter `tree` takes.
TREE_WORDS = tuple(sorted(BUILDERS))

"""Label trees: the data structure, and the ways to make one."""

from labeltree.trees.complete import complete_tree
from labeltree.trees.expected_cost import TreeCost, cheapest_tree
from labeltree.trees.flat import flat_tree
from labeltree.trees.huffman import huffman_tree
from labeltree.trees.kmeans import kmeans_tree
from labeltree.trees.random_balanced import random_tree
from labeltree.trees.tree import LabelTree

__all__ = [
    "LabelTree",
    "TreeCost",
    "cheapest_tree",
    "complete_tree",
    "flat_tree",
    "huffman_tree",
    "kmeans_tree",
    "random_tree",
]

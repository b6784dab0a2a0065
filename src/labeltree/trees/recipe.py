"""How a classifier's trees are made: what its tree parameters say, tree by tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.trees.complete import complete_tree
from labeltree.trees.flat import flat_tree
from labeltree.trees.huffman import huffman_tree
from labeltree.trees.kmeans import cluster_labels
from labeltree.trees.label_vectors import check_label_vectors, label_vector_matrix
from labeltree.trees.random_balanced import random_tree
from labeltree.trees.tree import LabelTree
from labeltree.trees.wide_nodes import split_wide_nodes

#: Trees that are made by clustering, and all that can be asked for by a word.
CLUSTERED = ("kmeans", "unbalanced_kmeans")
TREE_WORDS = (*CLUSTERED, "complete", "huffman", "random", "flat")


@runtime_checkable
class TreeSource(Protocol):
    """Something that makes a tree of given labels, such as a taxonomy."""

    def label_tree(self, classes: NDArray[Any]) -> LabelTree: ...


@dataclass(frozen=True)
class TreeRecipe:
    """`LabelTreeClassifier`'s parameters of these names; to grow a tree, `tree` must be no sequence."""

    tree: Any
    max_arity: int | None
    arity: int
    max_leaves: int
    max_depth: int | None
    frequent_share: float
    collapse: int
    label_vectors: Any
    label_vector_prune: float

    def for_each(self, n_trees: int) -> list[TreeRecipe]:
        """The recipes of `n_trees` trees: where `tree` is a sequence, one for each of its entries."""
        if isinstance(self.tree, str | TreeSource):
            return [self] * n_trees
        trees = [self.tree] if isinstance(self.tree, LabelTree) else list(self.tree)
        if len(trees) != n_trees:
            raise ValueError(f"tree: expected n_trees = {n_trees} trees, got {len(trees)}")
        return [replace(self, tree=tree) for tree in trees]

    def check(self, n_labels: int) -> None:
        """Raise `ValueError` for what cannot make a tree of so many labels."""
        if isinstance(self.tree, LabelTree) and self.tree.n_labels != n_labels:
            raise ValueError(f"the given tree has {self.tree.n_labels} labels, but y has {n_labels}")
        if self.tree in CLUSTERED:
            check_label_vectors(self.label_vectors, n_labels)

    def describe(self, n_labels: int) -> str:
        """What `grow` does, for those who wait for it."""
        return f"{'clustering' if self.tree in CLUSTERED else 'arranging'} {n_labels:,} labels"

    def grow(
        self,
        features: _native.FeatureMatrix,
        labels: LabelRows,
        sample_weight: NDArray[np.float32] | None,
        seed: int,
        n_threads: int,
        progress: _native.Progress,
    ) -> LabelTree:
        """Make the tree. A tree that is given stays as it is, but for nodes of more than `max_arity` children."""
        tree = self._as_told(features, labels, sample_weight, seed, n_threads, progress)
        if self.max_arity is None or tree.arity <= self.max_arity:
            return tree
        check_label_vectors(self.label_vectors, labels.n_labels)
        examples = _native.Examples(features, labels.indptr, labels.indices, labels.n_labels, sample_weight)
        vectors = label_vector_matrix(
            self.label_vectors, self.label_vector_prune, examples, n_threads, progress
        )
        return split_wide_nodes(
            tree, self.max_arity, vectors, seed=seed, n_threads=n_threads, progress=progress
        )

    def _as_told(
        self,
        features: _native.FeatureMatrix,
        labels: LabelRows,
        sample_weight: NDArray[np.float32] | None,
        seed: int,
        n_threads: int,
        progress: _native.Progress,
    ) -> LabelTree:
        """The tree of the words or the hierarchy, however wide."""
        if isinstance(self.tree, LabelTree):
            return self.tree
        if isinstance(self.tree, TreeSource):
            made = self.tree.label_tree(labels.classes)
            replace(self, tree=made).check(labels.n_labels)
            return made
        if self.tree in CLUSTERED:
            tree = cluster_labels(
                _native.Examples(features, labels.indptr, labels.indices, labels.n_labels, sample_weight),
                arity=self.arity,
                max_leaves=self.max_leaves,
                max_depth=self.max_depth,
                balanced=self.tree == "kmeans",
                frequent_share=self.frequent_share,
                label_vectors=self.label_vectors,
                label_vector_prune=self.label_vector_prune,
                seed=seed,
                n_threads=n_threads,
                progress=progress,
            )
        else:
            tree = self._arrange(labels, seed)
        return tree.collapse(self.collapse)

    def _arrange(self, labels: LabelRows, seed: int) -> LabelTree:
        if self.tree == "flat":
            return flat_tree(labels.n_labels)
        if self.tree == "random":
            return random_tree(
                labels.n_labels, self.arity, self.max_leaves, max_depth=self.max_depth, random_state=seed
            )
        counts = np.bincount(labels.indices, minlength=labels.n_labels)
        return (
            complete_tree(counts, self.arity) if self.tree == "complete" else huffman_tree(counts, self.arity)
        )


def check_tree(tree: Any) -> None:
    """Raise `ValueError` for what is nearly a tree, and unless all entries of a sequence are words or trees."""
    if isinstance(tree, dict):
        raise ValueError("tree is a dictionary: give labeltree.trees.Taxonomy.from_dict(tree)")
    if isinstance(tree, type):
        raise ValueError(f"tree is the class {tree.__name__}: give an object of it")
    if not isinstance(tree, list | tuple):
        return
    for entry in tree:
        if not (
            isinstance(entry, LabelTree | TreeSource) or (isinstance(entry, str) and entry in TREE_WORDS)
        ):
            words = ", ".join(map(repr, TREE_WORDS))
            raise ValueError(f"tree must hold LabelTree objects or the words {words}, got {entry!r}")


def more_trees(tree: Any, n_before: int, added: Any, n_added: int) -> Any:
    """The parameter `tree` of a model that gets more trees, made as the others unless `added` says how.

    Examples
    --------
    >>> more_trees("kmeans", 2, None, 1)
    'kmeans'
    >>> more_trees("kmeans", 1, "huffman", 2)
    ['kmeans', 'huffman', 'huffman']
    """
    if added is None:
        if not isinstance(tree, str):
            raise ValueError(
                "the model's `tree` is not one word for all trees; say how those to add are made, as "
                f"add_trees(..., tree={TREE_WORDS[0]!r})"
            )
        added = tree
    if isinstance(tree, str) and isinstance(added, str) and tree == added:
        return tree
    check_tree([*_each(tree, n_before), *_each(added, n_added)])
    return [*_each(tree, n_before), *_each(added, n_added)]


def _each(tree: Any, n_trees: int) -> list[Any]:
    if not isinstance(tree, list | tuple):
        return [tree] * n_trees
    if len(tree) != n_trees:
        raise ValueError(f"tree: expected {n_trees} trees, got {len(tree)}")
    return list(tree)

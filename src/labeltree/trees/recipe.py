"""The recipe of a classifier's trees: its tree parameters, applied to training data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from labeltree.trees.builders import BUILDERS, TreeInput
from labeltree.trees.label_vectors import check_label_vectors, label_vector_matrix, make_label_vectors
from labeltree.trees.tree import LabelTree
from labeltree.trees.wide_nodes import split_wide_nodes
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.training.examples import Examples
    from labeltree.training.run import Run


@runtime_checkable
class TreeSource(Protocol):
    """An object that makes a tree for given labels, such as a taxonomy."""

    def label_tree(self, classes: NDArray[Any]) -> LabelTree: ...


@dataclass(frozen=True)
class TreeRecipe:
    """The tree parameters of an estimator.

    Attributes
    ----------
    tree : str, LabelTree, TreeSource, or a sequence of these
        The word of a tree builder, or a given tree. A sequence has one entry for each tree; `for_each` splits it, and
        the other methods need a single entry.
    max_arity : int, optional
        Maximum number of children of a node; wider nodes are split.
    arity : int
        Maximum number of clusters that the labels of a node are split into.
    max_leaves : int
        Maximum number of labels in a leaf cluster.
    max_depth : int, optional
        Maximum number of edges from the root to a label.
    frequent_share : float
        Share of a node's examples from which a label becomes a child of that node, outside the clusters.
    collapse : int
        Number of layers that are merged into one.
    label_vectors : str or matrix
        The vectors that clustering compares.
    label_vector_prune : float
        Threshold below which entries of computed label vectors are dropped.
    """

    tree: Any
    max_arity: int | None
    arity: int
    max_leaves: int
    max_depth: int | None
    frequent_share: float
    collapse: int
    label_vectors: Any
    label_vector_prune: float

    @classmethod
    def of(cls, estimator: Any) -> TreeRecipe:
        """Return the recipe that the tree parameters of an estimator describe."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def for_each(self, n_trees: int) -> list[TreeRecipe]:
        """Return the recipe of each of `n_trees` trees; a sequence in `tree` has one entry for each."""
        trees = [self.tree] if isinstance(self.tree, LabelTree) else self.tree
        return [replace(self, tree=tree) for tree in _each(trees, n_trees, "n_trees=")]

    def check(self, n_labels: int) -> None:
        """Raise `ValueError` if the recipe cannot make a tree of `n_labels` labels."""
        if isinstance(self.tree, LabelTree) and self.tree.n_labels != n_labels:
            raise ValueError(
                f"the given tree has {count_text(self.tree.n_labels, 'label')}, but y has {n_labels}"
            )
        if self.clusters:
            check_label_vectors(self.label_vectors, n_labels)

    def grow(self, examples: Examples, seed: int, run: Run) -> LabelTree:
        """Return the tree. A given tree is not changed, except that `max_arity` splits its wide nodes."""
        labels = examples.labels
        if isinstance(self.tree, str):
            tree = self._build(TreeInput(examples, seed, run)).collapse(self.collapse)
        elif isinstance(self.tree, LabelTree):
            tree = self.tree
        else:
            tree = self.tree.label_tree(labels.classes)
            replace(self, tree=tree).check(labels.n_labels)
        max_arity = self.max_arity
        if max_arity is None or tree.arity <= max_arity:
            return tree
        check_label_vectors(self.label_vectors, labels.n_labels)
        made = make_label_vectors(self.label_vectors, self.label_vector_prune, examples, run).open()
        vectors = label_vector_matrix(made, self.label_vectors)
        return run.phase(
            "splitting wide nodes",
            lambda progress: split_wide_nodes(
                tree,
                max_arity,
                vectors,
                seed=seed,
                n_threads=run.n_threads,
                progress=progress,
            ),
        )

    def _build(self, data: TreeInput) -> LabelTree:
        """Return the tree of a builder. Clustering and learning are long and show bars of their own."""
        build = BUILDERS[self.tree]
        if "run" in build.needs:
            return build(self, data)
        return data.run.phase(
            f"arranging {count_text(data.n_labels, 'label')}", lambda progress: build(self, data)
        )

    @property
    def clusters(self) -> bool:
        """Whether labels are grouped by vectors, which need the features of rows."""
        return isinstance(self.tree, str) and BUILDERS[self.tree].clusters

    @property
    def is_balanced(self) -> bool:
        """Whether clusters have equal size: their assignment needs the similarities of all labels at once."""
        return isinstance(self.tree, str) and bool(BUILDERS[self.tree].fixed.get("balanced", False))


def check_tree(tree: Any) -> None:
    """Raise `ValueError` for a class, a dictionary, or a sequence with entries that are no words or trees."""
    if isinstance(tree, dict):
        raise ValueError("tree is a dictionary: give labeltree.trees.Taxonomy.from_dict(tree)")
    if isinstance(tree, type):
        raise ValueError(f"tree is the class {tree.__name__}: give an object of it")
    for entry in tree if isinstance(tree, list | tuple) else ():
        is_word = isinstance(entry, str) and entry in BUILDERS
        if not is_word and not isinstance(entry, LabelTree | TreeSource):
            words = ", ".join(map(repr, sorted(BUILDERS)))
            raise ValueError(f"tree must hold LabelTree objects or the words {words}, got {entry!r}")


def more_trees(tree: Any, n_before: int, added: Any, n_added: int) -> Any:
    """Return the parameter `tree` of a model that gets more trees; without `added` they are built like the others.

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
                "the model's `tree` is not one word for all trees: choose a builder for the new trees, as in "
                "add_trees(..., tree='kmeans')"
            )
        added = tree
    if isinstance(tree, str) and isinstance(added, str) and tree == added:
        return tree
    trees = [*_each(tree, n_before), *_each(added, n_added)]
    check_tree(trees)
    return trees


def _each(tree: Any, n_trees: int, prefix: str = "") -> list[Any]:
    """Return an entry for each tree."""
    if not isinstance(tree, list | tuple):
        return [tree] * n_trees
    if len(tree) != n_trees:
        raise ValueError(f"tree: expected {prefix}{n_trees} trees, got {len(tree)}")
    return list(tree)

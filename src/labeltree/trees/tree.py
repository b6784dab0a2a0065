"""The label tree: an immutable tree with one label at each leaf, as flat arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree.cached import cached_property
from labeltree.trees import conversion
from labeltree.trees.checks import Int32Array, check_labels, check_layout, int32_array
from labeltree.trees.conversion import Nested
from labeltree.trees.drawing import draw, to_graphviz
from labeltree.trees.expected_cost import expected_cost
from labeltree.trees.layers import collapse
from labeltree.trees.plotting import plot
from labeltree.trees.training_cost import training_cost

_Scalar = TypeVar("_Scalar", bound=np.generic)


class LabelTree:
    """A rooted tree with every label at exactly one leaf.

    Nodes are numbered breadth first from the root, which is node 0 and never a leaf. So the children of
    a node, and the nodes of a level, are contiguous, and children come after their parents. Two arrays
    define the tree; all other arrays are computed from them on first use. All arrays are read-only.

    Most trees are made by a tree builder or by a ``from_...`` method, which takes nodes in any order and
    numbers them. This constructor takes the two arrays.

    Parameters
    ----------
    child_begin : array of int, shape (n_nodes + 1,)
        The children of node ``v`` are ``child_begin[v]`` to ``child_begin[v + 1] - 1``; a leaf has none.
    label : array of int, shape (n_nodes,)
        The label of each leaf and -1 for each inner node. With ``m`` leaves, the labels are 0 to ``m - 1``.

    Raises
    ------
    ValueError
        If the arrays are not a tree with every label at exactly one leaf.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree(child_begin=[1, 3, 5, 5, 5, 5], label=[-1, -1, 2, 0, 1])
    >>> tree
    LabelTree(n_labels=3, n_nodes=5, depth=2, arity=2)
    >>> tree.to_nested()
    [[0, 1], 2]
    """

    # Methods in files of their own.
    draw = draw
    to_graphviz = to_graphviz
    plot = plot
    training_cost = training_cost
    expected_cost = expected_cost
    collapse = collapse

    def __init__(self, child_begin: ArrayLike, label: ArrayLike) -> None:
        self._child_begin = _frozen(int32_array(child_begin, "child_begin"))
        self._label = _frozen(int32_array(label, "label"))
        check_layout(self._child_begin, self._label.size)
        check_labels(np.diff(self._child_begin), self._label)

    @classmethod
    def flat(cls, n_labels: int) -> LabelTree:
        """Return the tree whose root has all labels as its children, as in one-versus-rest.

        Examples
        --------
        >>> LabelTree.flat(3).to_nested()
        [0, 1, 2]
        """
        if n_labels < 1:
            raise ValueError(f"n_labels must be 1 or more, but is {n_labels}")
        child_begin = np.full(n_labels + 2, n_labels + 1)
        child_begin[0] = 1
        return cls(child_begin, np.arange(-1, n_labels))

    @classmethod
    def from_parents(cls, parent: ArrayLike, label: ArrayLike) -> LabelTree:
        """Make a tree from the parent and the label of each node. This is the fastest way for large trees.

        Parameters
        ----------
        parent : array of int, shape (n_nodes,)
            The parent of each node, -1 for the root. Nodes are counted from 0, in any order; the children
            of a node stay in this order.
        label : array of int, shape (n_nodes,)
            The label of each leaf, -1 for the other nodes.

        Examples
        --------
        >>> LabelTree.from_parents([2, 2, -1, 1, 1], [2, -1, -1, 0, 1]).to_nested()
        [2, [0, 1]]
        """
        return cls(*conversion.arrays_from_parents(parent, label))

    @classmethod
    def from_triples(cls, triples: Iterable[Sequence[int | None]] | NDArray[Any]) -> LabelTree:
        """Make a tree from (parent, node, label) triples, one for each node, in any order.

        Node ids are integers from 0. The root has parent -1, and inner nodes have label -1; None is the same
        as -1. The children of a node are in the order of their triples.

        Examples
        --------
        >>> triples = [(-1, 10, -1), (10, 20, -1), (20, 7, 1), (20, 8, 0), (10, 9, 2)]
        >>> LabelTree.from_triples(triples).to_nested()
        [[1, 0], 2]
        """
        return cls(*conversion.arrays_from_triples(triples))

    @classmethod
    def from_nested(cls, nested: Nested) -> LabelTree:
        """Make a tree from nested lists or tuples: a list is a node, a number a leaf with that label.

        Examples
        --------
        >>> LabelTree.from_nested([[0, 1], [2, [3, 4]]])
        LabelTree(n_labels=5, n_nodes=9, depth=3, arity=2)
        """
        return cls(*conversion.arrays_from_nested(nested))

    @classmethod
    def from_json(cls, text: str | bytes) -> LabelTree:
        """Make a tree from the result of ``to_json``, or from nested lists of labels in JSON.

        Examples
        --------
        >>> LabelTree.from_json('{"parent": [-1, 0, 0], "label": [-1, 0, 1]}').to_nested()
        [0, 1]
        >>> LabelTree.from_json("[[0, 1], 2]").to_nested()
        [[0, 1], 2]
        """
        return cls(*conversion.arrays_from_json(text))

    def to_triples(self) -> Int32Array:
        """Return an array of (parent, node, label) rows, with -1 for the root's parent and for no label.

        Examples
        --------
        >>> LabelTree.flat(2).to_triples().tolist()
        [[-1, 0, -1], [0, 1, 0], [0, 2, 1]]
        """
        return np.column_stack((self.parent, np.arange(self.n_nodes, dtype=np.int32), self.label))

    def to_nested(self) -> list[Nested]:
        """Return the tree as nested lists of labels."""
        return conversion.nested_from_arrays(self.child_begin, self.label)

    def to_json(self) -> str:
        """Return the tree as JSON: an object with the parent and the label of each node.

        Examples
        --------
        >>> LabelTree.flat(2).to_json()
        '{"parent": [-1, 0, 0], "label": [-1, 0, 1]}'
        """
        return json.dumps({"parent": self.parent.tolist(), "label": self.label.tolist()})

    @property
    def child_begin(self) -> Int32Array:
        """The first child of each node, and the number of nodes at the end."""
        return self._child_begin

    @property
    def label(self) -> Int32Array:
        """The label of each leaf, -1 for inner nodes."""
        return self._label

    @property
    def n_nodes(self) -> int:
        """The number of nodes, inner nodes and leaves."""
        return self.label.size

    @property
    def n_labels(self) -> int:
        """The number of labels, which is the number of leaves."""
        return self.n_nodes - self.n_blocks

    @property
    def n_blocks(self) -> int:
        """The number of inner nodes; the children of each are trained together, as a block."""
        return self.inner_nodes.size

    @property
    def depth(self) -> int:
        """The number of edges from the root to the lowest leaf."""
        return len(self._levels) - 1

    @cached_property
    def arity(self) -> int:
        """The largest number of children of a node."""
        return int(np.diff(self.child_begin).max())

    @cached_property
    def inner_nodes(self) -> Int32Array:
        """The nodes that have children, in order."""
        return _frozen(np.flatnonzero(self.label < 0).astype(np.int32))

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return _frozen(self.label >= 0)

    @cached_property
    def parent(self) -> Int32Array:
        """The parent of each node, -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[1:] = np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.child_begin))
        return _frozen(parent)

    @cached_property
    def leaf_of_label(self) -> Int32Array:
        """The leaf of each label."""
        leaves = np.flatnonzero(self.label >= 0)
        leaf_of_label = np.empty(leaves.size, dtype=np.int32)
        leaf_of_label[self.label[leaves]] = leaves
        return _frozen(leaf_of_label)

    @cached_property
    def depth_of_node(self) -> Int32Array:
        """The number of edges from the root to each node."""
        sizes = [len(level) for level in self._levels]
        return _frozen(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))

    @cached_property
    def n_labels_of_node(self) -> Int32Array:
        """The number of labels under each node, 1 for a leaf."""
        n_labels = self.is_leaf.astype(np.int32)
        for level in reversed(self._levels[:-1]):
            begin = self.child_begin[level.start : level.stop + 1]
            until = np.zeros(begin[-1] - begin[0] + 1, dtype=np.int32)
            np.cumsum(n_labels[begin[0] : begin[-1]], out=until[1:])
            n_labels[level.start : level.stop] += np.diff(until[begin - begin[0]])
        return _frozen(n_labels)

    def levels(self) -> list[range]:
        """Return the nodes of each level, from the root down.

        Examples
        --------
        >>> LabelTree.from_nested([[0, 1], 2]).levels()
        [range(0, 1), range(1, 3), range(3, 5)]
        """
        return list(self._levels)

    def children(self, node: int) -> range:
        """Return the children of a node; a leaf has none."""
        self._check_node(node)
        return range(int(self.child_begin[node]), int(self.child_begin[node + 1]))

    def labels_under(self, node: int) -> Int32Array:
        """Return the labels under a node from left to right; only the first call computes anything.

        Examples
        --------
        >>> LabelTree.from_nested([[3, [1, 0]], 2]).labels_under(1)
        array([3, 1, 0], dtype=int32)
        """
        self._check_node(node)
        begin = self.label_begin[node]
        return self.labels_from_left[begin : begin + self.n_labels_of_node[node]]

    def path(self, label: int) -> Int32Array:
        """Return the nodes from the root to the leaf of a label, both included.

        Examples
        --------
        >>> LabelTree.from_nested([[0, 1], 2]).path(1)
        array([0, 1, 4], dtype=int32)
        """
        if not 0 <= label < self.n_labels:
            raise ValueError(f"label must be from 0 to {self.n_labels - 1}, but is {label}")
        path = [self.leaf_of_label[label]]
        while path[-1] > 0:
            path.append(self.parent[path[-1]])
        return np.array(path[::-1], dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelTree):
            return NotImplemented
        return np.array_equal(self.child_begin, other.child_begin) and np.array_equal(self.label, other.label)

    def __repr__(self) -> str:
        return (
            f"LabelTree(n_labels={self.n_labels}, n_nodes={self.n_nodes}, "
            f"depth={self.depth}, arity={self.arity})"
        )

    def __reduce__(self) -> tuple[type[LabelTree], tuple[Int32Array, Int32Array]]:
        return LabelTree, (self.child_begin, self.label)

    @cached_property
    def native(self) -> _native.Tree:
        """Return the kernel's view of this tree."""
        return _native.Tree(self._child_begin, self._label, self.n_labels)

    @cached_property
    def _levels(self) -> list[range]:
        levels = []
        start, stop = 0, 1
        while start < stop:
            levels.append(range(start, stop))
            start, stop = stop, int(self.child_begin[stop])
        return levels

    @cached_property
    def label_begin(self) -> Int32Array:
        """The position of the first label under each node in ``labels_from_left``."""
        begin = np.zeros(self.n_nodes, dtype=np.int32)
        before = np.cumsum(self.n_labels_of_node, dtype=np.int64) - self.n_labels_of_node
        for level in self._levels[1:]:
            parent = self.parent[level.start : level.stop]
            before_siblings = before[level.start : level.stop] - before[self.child_begin[parent]]
            begin[level.start : level.stop] = begin[parent] + before_siblings
        return _frozen(begin)

    @cached_property
    def labels_from_left(self) -> Int32Array:
        labels = np.empty(self.n_labels, dtype=np.int32)
        labels[self.label_begin[self.is_leaf]] = self.label[self.is_leaf]
        return _frozen(labels)

    def _check_node(self, node: int) -> None:
        if not 0 <= node < self.n_nodes:
            raise ValueError(f"node must be from 0 to {self.n_nodes - 1}, but is {node}")


def _frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array.flags.writeable = False
    return array

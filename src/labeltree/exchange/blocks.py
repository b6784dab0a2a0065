"""Blocks of siblings for rows: the unit of exchange between a tree and a learner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree.cached import cached_property
from labeltree.trees import LabelTree
from labeltree.trees.checks import first_true

Int64Array = NDArray[np.int64]


class BlockRows(NamedTuple):
    """All rows of one block."""

    nodes: range
    """The block's nodes."""
    rows: Int64Array
    """The rows, shape (n,)."""
    entries: Int64Array
    """The positions of each row's nodes in the flat arrays, shape (n, number of nodes)."""


@dataclass(frozen=True)
class NodeBlocks:
    """Pairs of a row and a block of siblings, and the nodes of these blocks one after another.

    The parent of its nodes identifies a block; -1 is the block of the root alone. All arrays are int64, as indices of
    tensors must be.

    Attributes
    ----------
    block_row, parent : arrays of shape (n_blocks,)
        The row and the parent of each block.
    begin : array of shape (n_blocks + 1,)
        The nodes of block i are ``begin[i]`` to ``begin[i + 1] - 1`` of the next two.
    row, node : arrays of shape (n_entries,)
        The row and the node of each entry.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], 2])
    >>> blocks = NodeBlocks.of(tree, [0, 0, 3], [-1, 0, 1])
    >>> blocks.row, blocks.node
    (array([0, 0, 0, 3, 3]), array([0, 1, 2, 3, 4]))
    """

    block_row: Int64Array
    parent: Int64Array
    begin: Int64Array
    row: Int64Array
    node: Int64Array

    @classmethod
    def of(cls, tree: LabelTree, block_row: ArrayLike, parent: ArrayLike) -> NodeBlocks:
        """Return the layout of the nodes of these blocks."""
        rows, parents = np.asarray(block_row, dtype=np.int64), np.asarray(parent, dtype=np.int64)
        first = first_nodes(tree, parents)
        n_nodes = np.where(parents < 0, 1, tree.child_begin[parents + 1] - first)
        begin = np.zeros(len(parents) + 1, dtype=np.int64)
        np.cumsum(n_nodes, out=begin[1:])
        node = np.repeat(first - begin[:-1], n_nodes)
        node += np.arange(begin[-1])
        return cls(rows, parents, begin, np.repeat(rows, n_nodes), node)

    @property
    def n_blocks(self) -> int:
        return len(self.parent)

    def __len__(self) -> int:
        """The number of entries: pairs of a row and a node."""
        return len(self.node)

    def check_probabilities(self, values: ArrayLike, normalize_siblings: bool = False) -> NDArray[np.float32]:
        """Return a probability for each entry as float32; `normalize_siblings` scales siblings to sum to 1 or more."""
        given = np.array(values, dtype=np.float32, order="C")
        if given.shape != self.node.shape:
            raise ValueError(
                f"expected a probability for each of {len(self)} entries, got an array of shape {given.shape}"
            )
        if (at := first_true(~((given >= 0) & (given <= 1)))) is not None:
            raise ValueError(
                f"row {self.row[at]}, node {self.node[at]}: expected a probability from 0 to 1, got {given[at]}"
            )
        if normalize_siblings:
            roots = given[self.node == 0]
            _native.normalize_blocks(self.begin, given)
            given[self.node == 0] = roots  # a root has no siblings
        return given

    def by_parent(self) -> Iterator[BlockRows]:
        """Yield all rows of each block, for learners that score whole blocks.

        Examples
        --------
        >>> from labeltree.trees import LabelTree
        >>> tree = LabelTree.from_nested([[0, 1], 2])
        >>> for nodes, rows, entries in NodeBlocks.of(tree, [0, 0, 3], [-1, 1, 1]).by_parent():
        ...     print(nodes, rows, entries.tolist())
        range(0, 1) [0] [[0]]
        range(3, 5) [0 3] [[1, 2], [3, 4]]
        """
        order = np.argsort(self.parent, kind="stable")
        starts = np.flatnonzero(np.diff(self.parent[order], prepend=-2))
        for blocks in np.split(order, starts[1:]) if len(order) else []:
            begin = self.begin[blocks]
            first, size = int(self.node[begin[0]]), int(self.begin[blocks[0] + 1] - begin[0])
            yield BlockRows(
                range(first, first + size), self.block_row[blocks], begin[:, np.newaxis] + np.arange(size)
            )


def first_nodes(tree: LabelTree, parent: Int64Array) -> Int64Array:
    """Return the first node of each block."""
    return np.where(parent < 0, 0, tree.child_begin[parent]).astype(np.int64)


class Paths:
    """The blocks on the paths from the root to some labels, each once for a row.

    Parameters
    ----------
    tree : LabelTree
    rows, labels : arrays of the same length
        The row and the label of each path.
    n_rows : int, optional
        If given, rows 0 to `n_rows` - 1 all have the block of the root, even without labels.
    """

    def __init__(
        self, tree: LabelTree, rows: Int64Array, labels: NDArray[np.integer], n_rows: int | None = None
    ) -> None:
        self._tree = tree
        nodes = tree.leaf_of_label[labels]
        waves = []
        while len(nodes) > 0:
            waves.append(rows * tree.n_nodes + nodes)
            nodes = tree.parent[nodes]
            if nodes.min(initial=0) < 0:  # some paths are complete
                rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        keys = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *waves]))
        keys = keys[np.diff(keys, prepend=-1) > 0]
        #: The nodes on the paths and their rows; ordered by row, then by node.
        self.row, self.node = np.divmod(keys, tree.n_nodes)
        is_inner = ~tree.is_leaf[self.node]
        starts = self.row[self.node == 0] if n_rows is None else np.arange(n_rows)
        block_row = np.concatenate([starts, self.row[is_inner]])
        parent = np.concatenate([np.full(len(starts), -1), self.node[is_inner]])
        block_keys = self._block_keys(block_row, parent)
        order = np.argsort(block_keys, kind="stable")
        self._known = block_keys[order]
        self._block_row, self._block_parent = block_row[order], parent[order]

    @cached_property
    def blocks(self) -> NodeBlocks:
        """The blocks, with all their nodes: of a flat tree, every row has every node."""
        return NodeBlocks.of(self._tree, self._block_row, self._block_parent)

    def entries(self, rows: Int64Array, nodes: NDArray[np.integer]) -> Int64Array:
        """Return the entries of `blocks` for nodes on the paths of these rows, or for siblings of such nodes."""
        parent = self._tree.parent[nodes].astype(np.int64)
        block = np.searchsorted(self._known, self._block_keys(rows, parent))
        return self.blocks.begin[block] + nodes - first_nodes(self._tree, parent)

    def _block_keys(self, rows: Int64Array, parent: Int64Array) -> Int64Array:
        """Return a number for each block of a row, ordered by row, then by parent."""
        return rows * (self._tree.n_nodes + 1) + parent + 1

"""`TreeLevels`: the levels of a label tree, as networks are trained on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.exchange.blocks import Paths
from labeltree.labels.reading import LabelRows
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class TreeLevels:
    """The tiers of a tree. Nodes are numbered level by level, so that each tier is a range of nodes.

    The first tier is the root and its children, which are scored for every text. Each further level is a tier.

    Attributes
    ----------
    tree : LabelTree
    begin : array of shape (n_tiers + 1,)
        Tier t has the nodes ``begin[t]`` to ``begin[t + 1] - 1``.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> TreeLevels.of(LabelTree.from_nested([[0, 1], 2])).begin.tolist()
    [0, 3, 5]
    """

    tree: LabelTree
    begin: NDArray[np.int64]

    @classmethod
    def of(cls, tree: LabelTree) -> TreeLevels:
        """Return the tiers of a tree."""
        ends = [level.stop for level in tree.levels()]
        return cls(tree, np.array([0, *(ends[1:] or ends)], dtype=np.int64))

    @property
    def n_tiers(self) -> int:
        return len(self.begin) - 1

    @property
    def sizes(self) -> list[int]:
        """The number of nodes of each tier."""
        sizes: list[int] = np.diff(self.begin).tolist()
        return sizes

    def most_children(self, tier: int) -> int:
        """Return the largest number of children of a node of this tier, other than the root."""
        first, stop = max(self.begin[tier], 1), self.begin[tier + 1]
        return int(np.diff(self.tree.child_begin[first : stop + 1]).max(initial=0))


@dataclass(frozen=True)
class PositiveNodes:
    """The nodes above the labels of each row, with the labels themselves and the root, ascending.

    Attributes
    ----------
    indptr : array of shape (n_rows + 1,)
    nodes : array of int64
    """

    indptr: NDArray[np.int64]
    nodes: NDArray[np.int64]

    @classmethod
    def of(cls, tree: LabelTree, labels: LabelRows) -> PositiveNodes:
        """Return the positive nodes of rows with these labels."""
        rows = np.repeat(np.arange(labels.n_rows, dtype=np.int64), np.diff(labels.indptr))
        paths = Paths(tree, rows, labels.indices)
        return cls(np.searchsorted(paths.row, np.arange(labels.n_rows + 1)), paths.node)

    def take(self, rows: NDArray[np.int64]) -> PositiveNodes:
        """Return the positive nodes of some rows."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        return PositiveNodes(indptr, self.nodes[at])

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of each of the nodes."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    def most_in(self, levels: TreeLevels, tier: int) -> int:
        """Return the largest number of inner positive nodes that a row has in a tier, without the root."""
        first, stop = levels.begin[tier : tier + 2]
        inside = (self.nodes >= max(first, 1)) & (self.nodes < stop) & ~levels.tree.is_leaf[self.nodes]
        return int(np.bincount(self.row[inside], minlength=1).max(initial=0))

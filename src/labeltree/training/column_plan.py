"""`ColumnPlan`: the order in which one classifier for each label is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.trees import LabelTree

#: Number of labels that are trained together, as lanes of vectors.
GROUP_LABELS = 32
#: Number of groups in a chunk, the unit of checkpoints.
CHUNK_GROUPS = 16


@dataclass(frozen=True)
class ColumnPlan:
    """The labels to train, in groups and chunks.

    Group g is ``label[group_begin[g]:group_begin[g + 1]]``; a chunk is `CHUNK_GROUPS` groups.
    """

    label: NDArray[np.int32]
    group_begin: NDArray[np.int64]

    @classmethod
    def by_frequency(cls, counts: NDArray[np.int64], n_rows: int) -> ColumnPlan:
        """Return a plan with frequent labels first: labels of similar frequency need a similar number of passes.

        Labels of all rows and labels of no row need no training.
        """
        order = np.argsort(-counts, kind="stable")
        label = order[(counts[order] > 0) & (counts[order] < n_rows)].astype(np.int32)
        return cls(label, np.append(np.arange(0, len(label), GROUP_LABELS), len(label)))

    @classmethod
    def by_siblings(cls, tree: LabelTree, counts: NDArray[np.int64], n_rows: int) -> ColumnPlan:
        """Return a plan that groups siblings of a tree: similar labels are proposed for the same rows."""
        parent = np.concatenate([[-1], np.repeat(np.arange(tree.n_nodes), np.diff(tree.child_begin))])
        leaf = np.flatnonzero(tree.label >= 0)
        leaf = leaf[(counts[tree.label[leaf]] > 0) & (counts[tree.label[leaf]] < n_rows)]
        leaf = leaf[np.lexsort((-counts[tree.label[leaf]], parent[leaf]))]
        place = np.arange(len(leaf)) - np.searchsorted(parent[leaf], parent[leaf])  # among its siblings
        begin = np.flatnonzero(place % GROUP_LABELS == 0)
        return cls(tree.label[leaf], np.append(begin, len(leaf)))

    def sample(self, share: float, fewest: int, cost: NDArray[Any], first: float) -> ColumnPlan:
        """Return a plan with a share of the groups, cheap and expensive ones alike, and at least `fewest` labels.

        Groups are taken at equal distances, in the order of the `cost` of each label; `first`, from 0 to 1, says where
        to begin.
        """
        size = np.diff(self.group_begin)
        of_group = np.add.reduceat(cost[self.label], self.group_begin[:-1]) if len(size) > 0 else size
        share = min(max(share, fewest / max(len(self.label), 1)), 1.0)
        order = np.argsort(of_group, kind="stable")
        steps = np.floor(share * (np.arange(len(size) + 1)) + first)
        kept = np.sort(order[np.diff(steps) > 0])
        in_kept = np.repeat(np.isin(np.arange(len(size)), kept), size)
        return ColumnPlan(self.label[in_kept], np.concatenate([[0], np.cumsum(size[kept])]))

    @property
    def n_chunks(self) -> int:
        return -(-(len(self.group_begin) - 1) // CHUNK_GROUPS)

    def native(self, chunks: list[int]) -> _native.ColumnPlan:
        """Return the kernel's plan for training these chunks."""
        return _native.ColumnPlan(
            self.label, self.group_begin, CHUNK_GROUPS, np.array(chunks, dtype=np.int64)
        )

    def labels_of(self, chunk: int) -> NDArray[np.int32]:
        """Return the labels of a chunk, in the order of its columns."""
        end = min((chunk + 1) * CHUNK_GROUPS, len(self.group_begin) - 1)
        return self.label[self.group_begin[chunk * CHUNK_GROUPS] : self.group_begin[end]]

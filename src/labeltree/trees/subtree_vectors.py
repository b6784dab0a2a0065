"""The label vectors of the subtrees below the top of a tree."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.training.array_folder import new_array
from labeltree.training.shared_features import HeldFeatures, SharedFeatures

if TYPE_CHECKING:
    from labeltree.training.array_folder import Arrays
    from labeltree.training.run import Run

#: Entries that are copied at a time.
_PIECE = 1 << 22


class SubtreeVectors(Protocol):
    """The vectors of the labels of each open node, as an argument of tasks."""

    def open(self, top: Arrays, number: int) -> _native.FeatureMatrix:
        """Return a row for each label of an open node of the top, in the order of its labels."""


@dataclass(frozen=True, eq=False)
class ScatteredVectors:
    """Vectors in the order of all labels."""

    vectors: SharedFeatures

    def open(self, top: Arrays, number: int) -> _native.FeatureMatrix:
        begin = top["open_begin"]
        labels = top["open_label"][begin[number] : begin[number + 1]]
        return self.vectors.open().take(labels.astype(np.int64))


@dataclass(frozen=True, eq=False)
class SortedVectors:
    """Vectors in files, in the order of `open_label` of the top: those of a subtree are next to each other."""

    begin: NDArray[np.int64]
    indices: NDArray[Any]
    values: NDArray[Any]
    n_features: int

    def open(self, top: Arrays, number: int) -> _native.FeatureMatrix:
        first, last = top["open_begin"][number : number + 2]
        begin = self.begin[first : last + 1]
        entries = slice(begin[0], begin[-1])
        rows: Any = _native.FeatureMatrix  # arrays of any type that the kernel has
        made: _native.FeatureMatrix = rows.csr(
            begin - begin[0], self.indices[entries], self.values[entries], self.n_features, False
        )
        return made


@contextmanager
def subtree_vectors(
    vectors: SharedFeatures, top: Arrays, run: Run, *, are_computed: bool
) -> Iterator[SubtreeVectors]:
    """Give the vectors of subtrees to tasks.

    Computed vectors that this process maps are sorted by subtrees first. Clustering reads the vectors of a node several
    times, and those of a subtree may fit into memory where those of all labels do not: at their old places, the system
    would read most of the file for each node.
    """
    folder = run.workplace.directory
    if folder is None or not are_computed or not isinstance(vectors, HeldFeatures):
        yield ScatteredVectors(vectors)
        return
    folder /= "sorted-vectors"
    try:
        yield _sorted(vectors.features, top["open_label"], folder, run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sorted(
    vectors: _native.FeatureMatrix, order: NDArray[np.int32], folder: Path, run: Run
) -> SortedVectors:
    indptr, indices, values = vectors.arrays
    sizes, n_labels = np.diff(indptr), vectors.n_rows
    begin = np.concatenate([[0], np.cumsum(sizes[order])])
    place = np.full(n_labels, -1, dtype=np.int64)  # of labels that have a leaf in the top
    place[order] = begin[:-1]
    found = SortedVectors(
        begin,
        new_array(folder, "indices", int(begin[-1]), indices.dtype.type),
        new_array(folder, "values", int(begin[-1]), values.dtype.type),
        vectors.n_features,
    )
    report = run.phases.follow(f"{run.prefix}sorting label vectors")
    first = 0
    while first < n_labels:
        last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + _PIECE)))
        last = min(last, n_labels)
        piece = slice(indptr[first], indptr[last])
        moved = np.repeat(place[first:last] - indptr[first:last], sizes[first:last])
        is_open = np.repeat(place[first:last] >= 0, sizes[first:last])
        to = (np.arange(piece.start, piece.stop) + moved)[is_open]
        found.indices[to] = indices[piece][is_open]
        found.values[to] = values[piece][is_open]
        report(last, n_labels)
        first = last
    return found

"""Batches of rows, checked before they are written to a store."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import LabelRows, read_labels


class WrittenRows(NamedTuple):
    """Rows as a store has them: columns ascend in every row, none twice."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float32]
    """Empty for labels, which are 1."""
    n_columns: int
    """The number of columns of the batch."""


_ONES = np.empty(0, dtype=np.float32)


def checked_features(X: Any, n_features: int | None) -> WrittenRows:
    """Return X as it is written; raise `ValueError` if it is not finite, or wider than `n_features`."""
    with np.errstate(over="ignore"):  # found below
        rows = sp.csr_matrix(X, dtype=np.float32)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        bad = int(np.argmin(np.isfinite(rows.data)))
        row = int(np.searchsorted(rows.indptr, bad, side="right")) - 1
        raise ValueError(
            f"X, row {row} of the batch: expected finite float32 numbers, got {rows.data[bad]} as feature "
            f"{rows.indices[bad]}"
        )
    return _written(rows, rows.data, n_features, "X", "features")


def checked_labels(y: Any, index: LabelIndex | None, n_labels: int | None) -> WrittenRows:
    """Return y as it is written: a 0/1 matrix or, with an index, lists of its labels."""
    if index is not None and not isinstance(y, LabelRows) and not sp.issparse(y):
        indptr = np.cumsum([0, *map(len, y)], dtype=np.int64)
        flat = index.positions([label for row in y for label in row])
        return labels_of_positions(indptr, flat, len(index))
    rows = read_labels(y if sp.issparse(y) or isinstance(y, LabelRows) else sp.csr_matrix(y))
    found = sp.csr_matrix((rows.n_rows, rows.n_labels), dtype=np.int8)
    found.indptr, found.indices = rows.indptr, rows.indices
    return _written(found, _ONES, n_labels, "y", "labels")


def labels_of_positions(
    indptr: NDArray[np.int64], positions: NDArray[np.int32], n_labels: int
) -> WrittenRows:
    """Return rows of labels in any order, with duplicates or without, as they are written."""
    n_rows = len(indptr) - 1
    row = np.repeat(np.arange(n_rows, dtype=np.int64), np.diff(indptr))
    pairs = np.sort(row * n_labels + positions)
    row, column = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], max(n_labels, 1))
    begin = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
    return WrittenRows(begin.astype(np.int64), column.astype(np.int32), _ONES, n_labels)


def _written(rows: Any, values: Any, most: int | None, name: str, noun: str) -> WrittenRows:
    needed = int(rows.indices.max()) + 1 if len(rows.indices) else 0
    if most is not None and needed > most:
        raise ValueError(
            f"{name}: expected at most {most:,} {noun}, as the store has, got number {needed - 1:,}"
        )
    indptr = rows.indptr.astype(np.int64, copy=False)
    return WrittenRows(indptr, rows.indices.astype(np.int32, copy=False), values, rows.shape[1])

"""The native text writer of the XMLC and libsvm formats."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree._native import format_text_rows

from .atomic_file import open_atomic
from .labelled_rows import MOST_COLUMNS

_BLOCK_ENTRIES = 1 << 20


def write_rows(path: str | os.PathLike[str], X: Any, y: Any, *, header: bool, first_feature: int) -> None:
    """Write lines of ``label,label feature:value feature:value`` atomically."""
    X, y = _features(X), _labels(y)
    if X.shape[0] != y.shape[0]:
        raise ValueError(f"expected X and y of the same number of rows, got {X.shape[0]} and {y.shape[0]}")
    n_rows = X.shape[0]
    # Rows are formatted in blocks, so that the text of a large matrix is never in memory as a whole.
    step = max(1, int(_BLOCK_ENTRIES * n_rows / max(X.nnz + y.nnz, n_rows, 1)))
    blocks = ((X[begin : begin + step], y[begin : begin + step]) for begin in range(0, n_rows, step))
    shape = (n_rows, X.shape[1], y.shape[1]) if header else None
    write_row_blocks(path, blocks, header=shape, first_feature=first_feature)


def write_row_blocks(
    path: str | os.PathLike[str],
    blocks: Iterable[tuple[sp.csr_matrix, sp.csr_matrix]],
    *,
    header: tuple[int, int, int] | None,
    first_feature: int,
) -> None:
    """Write rows from an iterable of blocks X and y, which must be canonical.

    `header` holds the numbers of rows, features and labels of all blocks together.
    """
    with open_atomic(path) as file:
        if header is not None:
            file.write("{} {} {}\n".format(*header).encode())
        for X, y in blocks:
            # Not assigned to a variable, so that the text is freed before the next block is made.
            file.write(
                format_text_rows(
                    X.indptr.astype(np.int64),
                    X.indices.astype(np.int32) + np.int32(first_feature),
                    X.data.astype(np.float32),
                    y.indptr.astype(np.int64),
                    y.indices.astype(np.int32),
                )
            )


def _features(X: Any) -> sp.csr_matrix:
    X = _canonical(X, "X")
    with np.errstate(over="ignore"):
        X = X.astype(np.float32, copy=False)
    _check_values(X, np.isfinite(X.data), "finite float32 values in X")
    return X


def _labels(y: Any) -> sp.csr_matrix:
    y = _canonical(y, "y")
    if not y.data.all():
        y = y.copy()
        y.eliminate_zeros()
    _check_values(y, y.data == 1, "0 and 1 in y")
    return y


def _canonical(matrix: Any, name: str) -> sp.csr_matrix:
    """Return `matrix` as CSR with sorted indices and no duplicates; the caller's matrix is not changed."""
    matrix = sp.csr_matrix(matrix)
    if matrix.shape[1] > MOST_COLUMNS:
        raise ValueError(f"expected at most {MOST_COLUMNS} columns in {name}, got {matrix.shape[1]}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _check_values(matrix: sp.csr_matrix, is_valid: NDArray[np.bool_], expected: str) -> None:
    """Raise `ValueError` with the place of the first value that is not valid."""
    if not is_valid.all():
        entry = int(np.argmin(is_valid))
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        place = f"row {row}, column {matrix.indices[entry]}"
        raise ValueError(f"expected {expected}, got {matrix.data[entry]} in {place}")

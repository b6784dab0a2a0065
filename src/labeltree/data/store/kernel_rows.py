"""Mapped arrays as the kernel and SciPy read them, without copies of the large ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.validation import LARGEST_INTEGER, DenseRange


class CsrArrays(NamedTuple):
    """Rows as the arrays of a store have them."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[Any]


def feature_matrix(
    rows: CsrArrays, n_features: int, normalize: bool, dense_features: DenseRange
) -> _native.FeatureMatrix:
    """Return rows as the kernel reads them, without a copy; raise `ValueError` if they are not valid."""
    return _native.FeatureMatrix.csr(*rows, n_features, normalize, dense_features)


def mapped_csr(rows: CsrArrays, n_columns: int) -> sp.csr_matrix:
    """Return valid rows as a CSR matrix, without copies of indices and values."""
    indptr = rows.indptr.astype(np.int32) if len(rows.indices) <= LARGEST_INTEGER else rows.indptr
    matrix = sp.csr_matrix((len(indptr) - 1, n_columns), dtype=rows.values.dtype)
    # The constructor would give both arrays the larger type, and copy them.
    matrix.indptr, matrix.indices, matrix.data = indptr, rows.indices, rows.values
    matrix.has_canonical_format = True
    return matrix


def taken_csr(rows: CsrArrays, taken: NDArray[np.int64], n_columns: int) -> sp.csr_matrix:
    """Return a copy of some of the rows, which are valid, as a CSR matrix."""
    begin, sizes = rows.indptr[taken], rows.indptr[taken + 1] - rows.indptr[taken]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(indptr[-1]) + np.repeat(begin - indptr[:-1], sizes)
    return mapped_csr(CsrArrays(indptr, rows.indices[at], rows.values[at]), n_columns)

"""The native text reader, called from Python: what the XMLC and libsvm formats have in common."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labeltree.errors import DataFormatError

from .. import _native
from ..validation import n_threads
from .lines import LineError
from .sources import Source, open_buffer, source_name, text_start

MOST_COLUMNS = np.iinfo(np.int32).max


def read_labelled_rows(
    source: Source,
    *,
    header: _native.HeaderRule,
    first_feature: int,
    first_label: int,
    n_features: int | None,
    n_labels: int | None,
    comments: bool,
    n_jobs: int | None,
) -> tuple[csr_matrix, csr_matrix]:
    """Read lines of ``label,label feature:value feature:value`` as X and y."""
    sizes = _size("n_features", n_features), _size("n_labels", n_labels)
    threads = n_threads(n_jobs)
    with open_buffer(source) as buffer:
        try:
            return parse_labelled_rows(
                np.frombuffer(buffer, dtype=np.uint8)[text_start(buffer) :],
                header=header,
                first_feature=first_feature,
                first_label=first_label,
                n_features=sizes[0],
                n_labels=sizes[1],
                comments=comments,
                n_threads=threads,
            )
        except LineError as error:
            raise DataFormatError(error.reason, source_name(source), error.line) from None


def parse_labelled_rows(
    text: NDArray[np.uint8],
    *,
    header: _native.HeaderRule,
    first_feature: int,
    first_label: int,
    comments: bool,
    n_features: int | None = None,
    n_labels: int | None = None,
    n_threads: int = 1,
) -> tuple[csr_matrix, csr_matrix]:
    """X and y of the bytes of a text; `LineError` for the first line that is not right."""
    try:
        columns, labels, indptr, indices, values, label_indptr, label_indices = _native.read_text_format(
            text,
            header=header,
            first_feature=first_feature,
            first_label=first_label,
            n_features=n_features,
            n_labels=n_labels,
            comments=comments,
            n_threads=n_threads,
        )
    except _native.TextFormatError as error:
        line, reason = error.args
        del text  # or the traceback would keep a mapped file from being closed
        raise LineError(reason, line) from None
    ones = np.ones(len(label_indices), dtype=np.float32)
    return _csr(values, indices, indptr, columns), _csr(ones, label_indices, label_indptr, labels)


def _size(name: str, size: int | None) -> int | None:
    if size is None:
        return None
    size = operator.index(size)
    if not 0 <= size <= MOST_COLUMNS:
        raise ValueError(f"expected {name} from 0 to {MOST_COLUMNS}, got {size}")
    return size


def _csr(values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_columns: int) -> csr_matrix:
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    matrix = csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.has_canonical_format = True  # the reader sorts, and lets no duplicates through
    return matrix

"""The native text reader of the XMLC and libsvm formats."""

from __future__ import annotations

import codecs
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.errors import DataFormatError

from .lines import LineError
from .sources import Source, open_buffer, source_name

MOST_COLUMNS = np.iinfo(np.int32).max


@dataclass(frozen=True)
class RowReader:
    """Reads lines of ``label,label feature:value feature:value`` as X and y."""

    header: _native.HeaderRule = _native.HeaderRule.ABSENT
    first_feature: int = 0
    first_label: int = 0
    comments: bool = False
    n_features: int | None = None
    n_labels: int | None = None
    n_threads: int = 1

    def __post_init__(self) -> None:
        for name, size in (("n_features", self.n_features), ("n_labels", self.n_labels)):
            if size is not None and not 0 <= operator.index(size) <= MOST_COLUMNS:
                raise ValueError(f"expected {name} from 0 to {MOST_COLUMNS}, got {size}")

    def read(self, source: Source) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Read all rows of a source."""
        with open_buffer(source) as buffer:
            begin = len(codecs.BOM_UTF8) if buffer[: len(codecs.BOM_UTF8)] == codecs.BOM_UTF8 else 0
            try:
                return self.parse(np.frombuffer(buffer, dtype=np.uint8)[begin:])
            except LineError as error:
                raise DataFormatError(error.reason, source_name(source), error.line) from None

    def parse(self, text: NDArray[np.uint8]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Parse the bytes of a text; raise `LineError` for the first wrong line."""
        try:
            columns, labels, indptr, indices, values, label_indptr, label_indices = _native.read_text_format(
                text, **vars(self)
            )
        except _native.TextFormatError as error:
            line, reason = error.args
            del text  # the traceback would keep a mapped file open
            raise LineError(reason, line) from None
        ones = np.ones(len(label_indices), dtype=np.float32)
        return _csr(values, indices, indptr, columns), _csr(ones, label_indices, label_indptr, labels)


def _csr(values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_columns: int) -> sp.csr_matrix:
    matrix = sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.has_canonical_format = True  # the reader sorts, and refuses duplicates
    return matrix

"""Checks of all that is in a store, in little memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from .array_names import file_name
from .document import StoredArray

_BLOCK_BYTES = 1 << 24
_BLOCK_ROWS = 1 << 18


def verify_checksums(
    arrays: Mapping[str, NDArray[np.generic]],
    stored: Mapping[str, StoredArray],
    progress: Callable[[int, int], None],
) -> None:
    """Raise `ValueError` for the first array that does not have its checksum."""
    done, total = 0, sum(array.nbytes for array in arrays.values())
    for name, array in arrays.items():
        content, digest = array.view(np.uint8), hashlib.sha256()
        for begin in range(0, len(content), _BLOCK_BYTES):
            block = content[begin : begin + _BLOCK_BYTES]
            digest.update(block.data)
            done += len(block)
            progress(done, total)
        if digest.hexdigest() != stored[name].sha256:
            raise ValueError(
                f"{file_name(name)} is damaged, its checksum is wrong: copy it again, or import the data again"
            )


def check_rows(part: str, indptr: NDArray[np.int64], indices: NDArray[np.int32], n_columns: int) -> None:
    """Raise `ValueError` unless row pointers ascend, and the columns of every row ascend within `n_columns`."""
    for begin in range(0, len(indptr) - 1, _BLOCK_ROWS):
        ends = indptr[begin : begin + _BLOCK_ROWS + 1]
        if ends[0] < 0 or ends[-1] > len(indices) or (np.diff(ends) < 0).any():
            raise ValueError(f"{file_name(f'{part}.indptr')} is damaged: its numbers must ascend")
        columns = indices[ends[0] : ends[-1]]
        if len(columns) and not (columns.min() >= 0 and columns.max() < n_columns):
            raise ValueError(
                f"{file_name(f'{part}.indices')} is damaged: expected numbers from 0 to {n_columns - 1}, got "
                f"{columns.min()} to {columns.max()}"
            )
        ascends = np.diff(columns) > 0
        starts = ends[1:-1] - ends[0]
        ascends[starts[(starts > 0) & (starts < len(columns))] - 1] = True  # from one row to the next
        if not ascends.all():
            raise ValueError(f"{file_name(f'{part}.indices')} is damaged: the numbers of a row must ascend")

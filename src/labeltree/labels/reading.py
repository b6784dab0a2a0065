"""Reads y in all its forms: 0/1 matrices, lists of labels, and one class per row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.labels.label_index import LabelIndex

LabelKind = Literal["csr", "dense", "lists", "multiclass"]

#: The types that may hold the labels of one row.
COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class LabelRows:
    """Row i has the labels ``indices[indptr[i]:indptr[i + 1]]``, ascending, each a position in `classes`."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    classes: NDArray[Any]
    kind: LabelKind

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_labels(self) -> int:
        return len(self.classes)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows with each label."""
        return np.bincount(self.indices, minlength=self.n_labels).astype(np.int64)

    def matrix(self) -> sp.csr_matrix:
        """Return a matrix with a column for each class, 1 where a row has it."""
        ones = np.ones(len(self.indices), dtype=np.float32)
        return sp.csr_matrix((ones, self.indices, self.indptr), shape=(self.n_rows, self.n_labels))

    def take(self, rows: NDArray[np.int64]) -> LabelRows:
        """Return some rows, with all classes."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], sizes)
        return replace(self, indptr=indptr, indices=self.indices[at])


def as_lists(rows: LabelRows) -> list[list[Any]]:
    """Return the labels of each row as a list."""
    flat, ends = rows.classes[rows.indices].tolist(), rows.indptr.tolist()
    return [flat[begin:end] for begin, end in pairwise(ends)]


def read_labels(y: Any) -> LabelRows:
    """Read y: a sparse or dense 0/1 matrix, a sequence of collections of labels, or a 1-d array of classes."""
    if isinstance(y, LabelRows):  # already read
        return y
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    if sp.issparse(y):
        return _from_sparse(y)
    columns = getattr(y, "columns", None)
    y = plain_labels(y)
    if _is_list_of_lists(y):
        return read_label_lists(y)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        classes = np.arange(array.shape[1]) if columns is None else as_class_array(list(columns))
        return _from_dense(array, classes)
    return _from_classes(y)


def plain_labels(y: Any) -> Any:
    """Return a frame or a column of pandas, polars or Arrow as an array or a list, and any other y as it is."""
    if hasattr(y, "to_pylist") and not hasattr(y, "columns"):
        return y.to_pylist()
    return y.to_numpy() if hasattr(y, "to_numpy") else y


def read_known_labels(y: Any, classes: Iterable[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Read y, whose labels are all among `classes`: row i has the positions ``indices[indptr[i]:indptr[i + 1]]``.

    The labels of a row have no particular order, and may have duplicates.
    """
    index = LabelIndex(classes if isinstance(classes, np.ndarray) else as_class_array(list(classes)))
    return _read_by_label(y, index, index.positions)


def find_labels(y: Any, index: LabelIndex) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Read y as `read_known_labels` does; an unknown label has the position -1."""
    return _read_by_label(y, index, index.find)


def _read_by_label(
    y: Any, index: LabelIndex, positions: Callable[[Collection[Any]], NDArray[np.int32]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    if isinstance(y, LabelRows):
        if y.classes is index.classes or np.array_equal(y.classes, index.classes):
            return y.indptr, y.indices
        return y.indptr, positions(y.classes.tolist())[y.indices]
    y = plain_labels(y)
    if _is_list_of_lists(y):
        _check_lists(y)
        indptr = np.cumsum([0, *map(len, y)], dtype=np.int64)
        return indptr, positions([label for row in y for label in row])
    if not sp.issparse(y) and np.ndim(y) == 1:
        return np.arange(len(y) + 1, dtype=np.int64), positions(np.asarray(y).tolist())
    rows = read_labels(y)
    if rows.n_labels != len(index):
        raise ValueError(
            f"y must have a column for each of {len(index)} labels, but has {rows.n_labels}; lists that hold only "
            "0 and 1 are the rows of a matrix: pass tuples if these are labels"
        )
    return rows.indptr, rows.indices


def read_labels_of(y: Any, classes: NDArray[Any], kind: LabelKind) -> LabelRows:
    """Read y, whose labels are all among `classes`; sort the labels of each row, and drop duplicates."""
    return _label_rows(*read_known_labels(y, classes), classes, kind)


def read_held_out_labels(y: Any, index: LabelIndex, kind: LabelKind) -> LabelRows:
    """Read the y of held-out rows as `read_labels_of` does, without the labels that are not in the index.

    Raises `ValueError` if no label of any row is in the index.
    """
    indptr, indices = find_labels(y, index)
    known = indices >= 0
    if len(indices) > 0 and not known.any():
        raise ValueError("y has none of the labels of this model; classes_ has them all")
    if not known.all():
        indptr = np.concatenate([[0], np.cumsum(known)])[indptr]
    return _label_rows(indptr, indices[known], index.classes, kind)


def _label_rows(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], classes: NDArray[Any], kind: LabelKind
) -> LabelRows:
    matrix = sp.csr_matrix(
        (np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(len(indptr) - 1, len(classes))
    )
    matrix.sum_duplicates()
    return LabelRows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), classes, kind)


def _from_sparse(y: Any) -> LabelRows:
    if y.ndim != 2:
        raise ValueError(
            f"a sparse y must have a row per example and a column per label, got shape {y.shape}"
        )
    y = y.tocsr()
    _check_columns(y)
    _check_indicators(y)
    if not y.has_canonical_format or not y.data.all():
        y = y.copy()
        y.sum_duplicates()
        y.eliminate_zeros()
        _check_indicators(y)
    indptr = np.ascontiguousarray(y.indptr, dtype=np.int64)
    indices = np.ascontiguousarray(y.indices, dtype=np.int32)
    return LabelRows(indptr, indices, np.arange(y.shape[1]), "csr")


def _check_columns(y: Any) -> None:
    """Raise `ValueError` for invalid indices: SciPy does not check them, and the kernel relies on them."""
    if y.indptr[0] != 0 or y.indptr[-1] != len(y.indices) or (np.diff(y.indptr) < 0).any():
        raise ValueError("y: indptr must ascend from 0 to the length of indices")
    bad = (y.indices < 0) | (y.indices >= y.shape[1])
    if bad.any():
        entry = int(np.argmax(bad))
        row = int(np.searchsorted(y.indptr, entry, side="right")) - 1
        raise ValueError(f"y, row {row}: column {y.indices[entry]} is outside 0..{y.shape[1] - 1}")


def _check_indicators(y: Any) -> None:
    bad = (y.data != 0) & (y.data != 1)
    if bad.any():
        entry = int(np.argmax(bad))
        row = int(np.searchsorted(y.indptr, entry, side="right")) - 1
        raise ValueError(
            f"y must hold 0 and 1 only, but row {row}, column {y.indices[entry]} is {y.data[entry]!r}; "
            "pass (y > 0) if a positive number means that the row has the label"
        )


def _from_dense(y: NDArray[Any], classes: NDArray[Any]) -> LabelRows:
    from sklearn.utils.multiclass import check_classification_targets

    check_classification_targets(y)
    bad = (y != 0) & (y != 1)
    if bad.any():
        row, column = (int(i[0]) for i in np.nonzero(bad))
        raise ValueError(f"y must hold 0 and 1 only, but row {row}, column {column} is {y[row, column]!r}")
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(y, axis=1))])
    columns = np.nonzero(y)[1]
    return LabelRows(indptr, columns.astype(np.int32), classes, "dense")


def _is_list_of_lists(y: Any) -> bool:
    if isinstance(y, np.ndarray) and (y.dtype != object or y.ndim != 1):
        return False
    if not isinstance(y, Sequence | np.ndarray) or isinstance(y, str | bytes) or len(y) == 0:
        return False
    rows = [row for row in y if isinstance(row, COLLECTIONS)]
    return len(rows) > 0 and not (len(rows) == len(y) and is_indicator(rows))


def is_indicator(rows: Sequence[Any]) -> bool:
    """Return whether lists are the rows of a 0/1 matrix: all of the same length of at least 2, with only 0 and 1.

    scikit-learn decides the same way. Users whose only labels are 0 and 1 must rename them.
    """
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return False
    return all(isinstance(row, list | np.ndarray) and {0, 1}.issuperset(_hashables(row)) for row in rows)


def _hashables(row: Iterable[Any]) -> set[Any]:
    return {value if isinstance(value, Hashable) else id(value) for value in row}


def read_label_lists(y: Sequence[Iterable[Any]]) -> LabelRows:
    """Read y as a sequence of collections of labels, even if it could be a 0/1 matrix."""
    _check_lists(y)
    position: dict[Any, int] = {}
    indptr = np.zeros(len(y) + 1, dtype=np.int64)
    flat: list[int] = []
    for i, row in enumerate(y):
        try:
            flat.extend({position.setdefault(label, len(position)) for label in row})
        except TypeError as error:
            raise TypeError(
                f"y, row {i}: labels must be hashable (strings, numbers, tuples): {error}"
            ) from None
        indptr[i + 1] = len(flat)
    if not position:
        raise ValueError("y has no label in any row: there is nothing to learn")
    by_value = label_order(position)
    order = np.empty(len(position), dtype=np.int64)
    order[[position[label] for label in by_value]] = np.arange(len(position))
    indices = order[np.asarray(flat, dtype=np.int64)]
    # The labels of a row must be sorted in the order of the classes.
    row_of = np.repeat(np.arange(len(y)), np.diff(indptr))
    indices = indices[np.lexsort((indices, row_of))]
    return LabelRows(indptr, indices.astype(np.int32), as_class_array(by_value), "lists")


def _check_lists(y: Sequence[Any]) -> None:
    for i, row in enumerate(y):
        if not isinstance(row, COLLECTIONS):
            raise ValueError(f"y, row {i}: expected a list of labels (it may be empty), got {row!r}")


def label_order(labels: Iterable[Any]) -> list[Any]:
    """Return the labels in the order of `classes_`."""
    return sorted(labels, key=_sort_key)


def _sort_key(label: Any) -> tuple[str, Any]:
    """Return a sort key for labels of any types, so that `classes_` does not depend on the order of rows."""
    if isinstance(label, str):
        return "str", label
    if isinstance(label, Real | np.bool_):
        return "number", label
    if isinstance(label, tuple):
        return "tuple", tuple(_sort_key(part) for part in label)
    return type(label).__qualname__, repr(label)


def as_class_array(labels: Sequence[Any]) -> NDArray[Any]:
    """Return an integer array if all labels are integers that fit, an object array otherwise."""
    if all(type(label) is int or isinstance(label, np.integer) for label in labels):
        with suppress(OverflowError):
            return np.asarray(labels, dtype=np.int64)
    classes = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):  # NumPy would make rows of tuples
        classes[i] = label
    return classes


def _from_classes(y: Any) -> LabelRows:
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    array = column_or_1d(y, warn=True)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"y must not contain NaN or infinity, but row {row} is {array[row]}")
    check_classification_targets(array)
    classes, indices = np.unique(array, return_inverse=True)
    indptr = np.arange(len(array) + 1, dtype=np.int64)
    return LabelRows(indptr, indices.astype(np.int32), classes, "multiclass")

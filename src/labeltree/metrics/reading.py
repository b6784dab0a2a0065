"""Reads and checks labels in every form: matrices, arrays, lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.labels.reading import as_lists, is_indicator
from labeltree.mapped_rows import MappedRows
from labeltree.metrics.label_sets import IntArray, LabelLists, LabelSets, Vocabulary, check_row, row_numbers
from labeltree.wording import count_text

SparseMatrix: TypeAlias = "sp.sparray | sp.spmatrix"
LabelMatrix: TypeAlias = "SparseMatrix | NDArray[Any]"
LabelRows: TypeAlias = Sequence[Iterable[Hashable]]
Labels: TypeAlias = "LabelMatrix | LabelRows | MappedRows"
"""A 0/1 matrix, one list of labels per row, or a store; predictions also as scores or as an array of labels."""


def read_true(y: Labels, name: str) -> tuple[LabelSets, list[Hashable] | None]:
    """Read true labels. The second value holds the user's labels; it is None if labels are columns."""
    form = _true_form(y, name)
    if not isinstance(form, list):
        return read_matrix(form, name), None
    vocabulary = Vocabulary()
    lists = vocabulary.encode_true(form, name)
    return LabelSets.from_pairs(lists.rows, lists.labels, len(form), len(vocabulary)), vocabulary.labels


def read_both(
    y_true: Labels, y_pred: Labels
) -> tuple[LabelSets, LabelLists | LabelMatrix, list[Hashable] | None]:
    """Read true and predicted labels with the same numbering.

    Predictions in rows of labels are returned as `LabelLists`. A matrix or an array is returned unchanged, for the
    caller to interpret. The third value is the second value of `read_true`.
    """
    true_form, pred_form = _true_form(y_true, "y_true"), _form_of(y_pred, "y_pred")
    n_true, n_pred = _n_rows(true_form), _n_rows(pred_form)
    if n_true != n_pred:
        raise ValueError(
            f"y_true has {count_text(n_true, 'row')} and y_pred {n_pred}; they must have the same"
        )
    if not isinstance(true_form, list):
        predicted = _read_columns(pred_form) if isinstance(pred_form, list) else pred_form
        return read_matrix(true_form, "y_true"), predicted, None
    if sp.issparse(pred_form):
        raise ValueError("y_pred is a sparse matrix, so y_true must be a matrix too, not a list of labels")
    if not isinstance(pred_form, list) and pred_form.dtype.kind not in "iu":
        raise ValueError(
            f"y_pred must hold labels, as y_true does, got an array of dtype {pred_form.dtype}; "
            "probabilities are not needed"
        )
    vocabulary = Vocabulary()
    true_lists = vocabulary.encode_true(true_form, "y_true")
    pred_rows = pred_form if isinstance(pred_form, list) else pred_form.tolist()
    pred_lists = vocabulary.encode(pred_rows, "y_pred")
    truth = LabelSets.from_pairs(true_lists.rows, true_lists.labels, n_true, len(vocabulary))
    return truth, pred_lists, vocabulary.labels


def read_matrix(y: LabelMatrix, name: str) -> LabelSets:
    """Read a 0/1 matrix; error messages call it `name`."""
    rows: IntArray
    labels: IntArray
    if sp.issparse(y):
        csr = canonical_csr(y, name)
        stored = csr.data != 0  # a stored zero is not a label
        rows, labels = row_numbers(np.diff(csr.indptr))[stored], csr.indices[stored].astype(np.int64)
        values = csr.data[stored]
    else:
        rows, labels = np.nonzero(y)
        values = y[rows, labels]
    if (wrong := np.flatnonzero(values != 1)).size:
        at = wrong[0]
        raise ValueError(
            f"{name} must be a matrix of 0 and 1, got {values[at]} in row {rows[at]}, column {labels[at]}; "
            "compare scores with a threshold first, give label ids as a list of lists"
        )
    return LabelSets(rows, labels, *y.shape)


def canonical_csr(matrix: SparseMatrix, name: str) -> sp.csr_array:
    """Return a CSR matrix with sorted and unique column indices; the user's matrix is not changed."""
    csr = sp.csr_array(matrix)
    try:
        csr.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} is not a well-formed sparse matrix: {error}") from None
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _true_form(y: Labels, name: str) -> LabelMatrix | list[Iterable[Hashable]]:
    """Return `_form_of` true labels; lists of 0 and 1 are a matrix, as in a classifier's ``fit``."""
    if isinstance(y, MappedRows):
        y = _of_store(y, name)
    form = _form_of(y, name)
    if not isinstance(form, list) or not all(isinstance(row, list | np.ndarray) for row in form):
        return form
    return np.asarray(form) if is_indicator(form) else form


def _of_store(rows: MappedRows, name: str) -> Labels:
    """Return the labels of a store, as a model that was trained on it returns them."""
    if rows.has_filtered_pairs:
        raise ValueError(
            f"{name} is a store with pairs that do not count (--filter-labels): use 'labeltree evaluate', or pass the "
            "labels as a matrix or lists"
        )
    labels = rows.labels
    # Lists of 0 and 1 would be read as a matrix.
    return labels.matrix() if labels.kind == "csr" else [tuple(row) for row in as_lists(labels)]


def _form_of(y: Labels, name: str) -> LabelMatrix | list[Iterable[Hashable]]:
    """Return a matrix (sparse, or a 2-d array of numbers) unchanged, and rows of labels as a list."""
    if isinstance(y, tuple):
        raise ValueError(
            f"{name} must be a matrix or a list, got a tuple of {len(y)}; "
            "of the pair (labels, probabilities) pass the labels alone"
        )
    form: Any = y
    if not sp.issparse(y) and hasattr(y, "__array__"):
        array = np.asarray(y)
        form = array if array.ndim == 2 and array.dtype.kind in "biuf" else array.tolist()
    if not isinstance(form, list) and (isinstance(form, MappedRows) or len(getattr(form, "shape", ())) != 2):
        raise ValueError(
            f"{name} must be a sparse matrix, a 2-d array or a list with one list of labels per row, "
            f"got {type(y).__name__}"
        )
    if _n_rows(form) == 0:
        raise ValueError(f"{name} has no rows; a metric needs at least one")
    return form


def _n_rows(form: LabelMatrix | list[Iterable[Hashable]]) -> int:
    return len(form) if isinstance(form, list) else int(form.shape[0])


def _read_columns(rows: list[Iterable[Hashable]]) -> LabelLists:
    """Read lists of predictions for true labels in a matrix: the labels are column numbers."""
    sizes: list[int] = []
    columns: list[Hashable] = []
    for number, row in enumerate(rows):
        check_row(row, number, "y_pred")
        before = len(columns)
        columns.extend(row)
        sizes.append(len(columns) - before)
        if not all(isinstance(column, int | np.integer) for column in columns[before:]):
            raise ValueError(
                f"y_pred[{number}] must hold columns of y_true, which is a matrix, as integers, got {row!r}; "
                "pass y_true as a list of lists to compare labels of other kinds"
            )
    return LabelLists(np.array(sizes, dtype=np.int64), np.array(columns, dtype=np.int64))

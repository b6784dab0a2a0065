"""The labels of an online model: numbered in the order of their arrival, and sorted for users."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import (
    COLLECTIONS,
    LabelKind,
    LabelRows,
    as_class_array,
    label_order,
    read_label_lists,
    read_labels,
)

_FORMS = {
    "csr": "a sparse matrix",
    "dense": "an array of 0 and 1",
    "lists": "a sequence of collections of labels",
    "multiclass": "one class per row",
}


class LabelTable:
    """Translates between the tree's numbers of labels, in the order of arrival, and the user's labels.

    Parameters
    ----------
    kind : LabelKind, optional
        The form of y; None before the first example.
    labels : iterable
        The labels by number.
    columns : iterable
        All columns of y, if it is a matrix: a range or their names. A column may have no 1 yet.
    """

    def __init__(
        self, kind: LabelKind | None = None, labels: Iterable[Any] = (), columns: Sequence[Any] = range(0)
    ) -> None:
        self.kind = kind
        self.labels = list(labels)
        self._number = {label: i for i, label in enumerate(self.labels)}
        self._are_integers = all(map(_fits_int64, self.labels))
        self.columns = columns
        self._arranged: tuple[LabelIndex, NDArray[np.int32]] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def index(self) -> LabelIndex:
        """The labels in the order of `classes_`."""
        return self._arrange()[0]

    @property
    def classes(self) -> NDArray[Any]:
        """The labels in the user's order: columns of a matrix as they are, others sorted."""
        return self.index.classes

    @property
    def position(self) -> NDArray[np.int32]:
        """The position in `classes` of each label, by number."""
        return self._arrange()[1]

    def read(self, y: Any) -> LabelRows:
        """Read y; raise `ValueError` if it has another form than before."""
        if hasattr(y, "to_numpy") and not hasattr(y, "columns"):  # a series; it may hold lists
            y = y.to_numpy()
        rows = self._read(y)
        if self.kind is not None and rows.kind != self.kind:
            raise ValueError(
                f"y was {_FORMS[self.kind]} when learning began, and now is {_FORMS[rows.kind]}: keep to one form"
            )
        return rows

    def _read(self, y: Any) -> LabelRows:
        is_sequence = isinstance(y, Sequence | np.ndarray) and not isinstance(y, str) and len(y) > 0
        if is_sequence and all(isinstance(row, COLLECTIONS) and len(row) == 0 for row in y):
            nothing = np.empty(0, np.int32), np.empty(0, object)
            return LabelRows(np.zeros(len(y) + 1, dtype=np.int64), *nothing, self.kind or "lists")
        if is_sequence and self.kind == "lists" and any(isinstance(row, COLLECTIONS) for row in y):
            return read_label_lists(y)
        return read_labels(y)

    def number(self, rows: LabelRows, order: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[Any]]:
        """Return the number of each label of the rows, and the new labels in the order of their arrival."""
        present, entry = np.unique(rows.indices, return_inverse=True)
        names = rows.classes[present].tolist()
        numbers = np.array([self._number.get(name, -1) for name in names], dtype=np.int32)
        in_order = replace(rows, indices=entry.astype(np.int32)).take(order).indices
        unique, first = np.unique(in_order, return_index=True)
        unique = unique[np.argsort(first)]
        new = unique[numbers[unique] < 0]
        numbers[new] = np.arange(len(self), len(self) + len(new), dtype=np.int32)
        return numbers[entry], [names[position] for position in new.tolist()]

    def note_form(self, rows: LabelRows) -> None:
        """Remember the form of y, and the columns of a matrix."""
        self.kind = rows.kind
        if rows.kind not in ("csr", "dense"):
            return
        n_before = len(self.columns)
        if isinstance(self.columns, range) and rows.classes.dtype.kind == "i":
            self.columns = range(max(n_before, len(rows.classes)))
        else:
            self.columns = list(dict.fromkeys([*self.columns, *rows.classes.tolist()]))
        if len(self.columns) > n_before:
            self._arranged = None

    def add(self, labels: Sequence[Any]) -> None:
        """Append new labels."""
        if labels:
            self._arranged = None
        for label in labels:
            self._number[label] = len(self.labels)
            self._are_integers = self._are_integers and _fits_int64(label)
            self.labels.append(label)

    def names_of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """Return the labels with these numbers; for the number -1 it is -1, or None if not all labels are integers."""
        nothing = -1 if self._are_integers else None
        names = np.empty(numbers.size, dtype=np.int64 if self._are_integers else object)
        for i, number in enumerate(numbers.ravel().tolist()):
            names[i] = self.labels[number] if number >= 0 else nothing
        return names.reshape(numbers.shape)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all other labels, and renumber the kept ones in their order."""
        self.labels = [label for label, stays in zip(self.labels, kept.tolist(), strict=True) if stays]
        self._number = {label: i for i, label in enumerate(self.labels)}
        self._arranged = None

    def _arrange(self) -> tuple[LabelIndex, NDArray[np.int32]]:
        if self._arranged is not None:
            return self._arranged
        is_matrix = self.kind in ("csr", "dense")
        names = self.columns if is_matrix else label_order(self.labels)
        numbers = self.labels
        if not (is_matrix and isinstance(names, range)):
            at = {label: i for i, label in enumerate(names)}
            numbers = [at[label] for label in self.labels]
        if isinstance(names, range):
            classes = np.arange(len(names))
        else:
            classes = np.asarray(names) if self.kind == "multiclass" else as_class_array(list(names))
        self._arranged = LabelIndex(classes), np.array(numbers, dtype=np.int32)
        return self._arranged


def _fits_int64(label: Any) -> bool:
    return type(label) is int and abs(label) < 2**63

"""The labels that came so far: numbered as they came, and named as users know them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.names import LabelNames
from labeltree.labels.reading import (
    LabelKind,
    LabelRows,
    as_class_array,
    label_order,
    read_label_lists,
    read_labels,
)

_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


class LabelTable:
    """What the tree calls label 0, 1, 2, … in the order in which they came is something else to users.

    Parameters
    ----------
    kind : LabelKind, optional
        The form that y has, once there was one.
    labels : iterable
        The labels by number.
    columns : iterable
        All columns of y, if it is a matrix: a range or their names. Not all of them need have had a 1.
    """

    def __init__(
        self, kind: LabelKind | None = None, labels: Iterable[Any] = (), columns: Sequence[Any] = range(0)
    ) -> None:
        self.kind = kind
        self.labels = list(labels)
        self._number = {label: i for i, label in enumerate(self.labels)}
        self._are_integers = all(type(label) is int and abs(label) < 2**63 for label in self.labels)
        self.columns = columns
        self._names: LabelNames | None = None
        self._position: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def names(self) -> LabelNames:
        """The labels as users see them."""
        if self._names is None:
            self._arrange()
        assert self._names is not None
        return self._names

    @property
    def classes(self) -> NDArray[Any]:
        """The labels in the order in which users see them: columns as they are, others sorted."""
        return self.names.classes

    @property
    def position(self) -> NDArray[np.int32]:
        """Where each label, by number, is in `classes`."""
        if self._names is None:
            self._arrange()
        assert self._position is not None
        return self._position

    def read(self, y: Any) -> LabelRows:
        """Read y, which must be of the form it had before."""
        if hasattr(y, "to_numpy") and not hasattr(y, "columns"):  # a series, which may hold lists
            y = y.to_numpy()
        rows = self._read(y)
        if self.kind is not None and rows.kind != self.kind:
            raise ValueError(
                f"y was {_FORMS[self.kind]} when learning began, and now is {_FORMS[rows.kind]}: keep to one form"
            )
        return rows

    def _read(self, y: Any) -> LabelRows:
        is_sequence = isinstance(y, Sequence | np.ndarray) and not isinstance(y, str) and len(y) > 0
        if is_sequence and all(isinstance(row, _COLLECTIONS) and len(row) == 0 for row in y):
            kind = self.kind or "lists"
            return LabelRows(
                np.zeros(len(y) + 1, dtype=np.int64), np.empty(0, np.int32), np.empty(0, object), kind
            )
        if is_sequence and self.kind == "lists" and any(isinstance(row, _COLLECTIONS) for row in y):
            return read_label_lists(y)
        return read_labels(y)

    def number(self, rows: LabelRows, order: NDArray[np.int64]) -> tuple[NDArray[np.int32], list[Any]]:
        """The numbers of the labels of all rows, and the labels that are new if rows come in this order."""
        present, entry = np.unique(rows.indices, return_inverse=True)
        names = rows.classes[present].tolist()
        numbers = np.array([self._number.get(name, -1) for name in names], dtype=np.int32)
        counts = np.diff(rows.indptr)[order]
        # The entries in the order of the rows: those of row order[i] follow each other.
        at = np.arange(counts.sum()) + np.repeat(rows.indptr[order] - (np.cumsum(counts) - counts), counts)
        unique, first = np.unique(entry[at], return_index=True)
        unique = unique[np.argsort(first)]
        new = unique[numbers[unique] < 0]
        numbers[new] = np.arange(len(self), len(self) + len(new), dtype=np.int32)
        return numbers[entry], [names[position] for position in new.tolist()]

    def note_form(self, rows: LabelRows) -> None:
        """Remember the form of y and, of a matrix, its columns."""
        self.kind = rows.kind
        if rows.kind not in ("csr", "dense"):
            return
        n_before = len(self.columns)
        if isinstance(self.columns, range) and rows.classes.dtype.kind == "i":
            self.columns = range(max(n_before, len(rows.classes)))
        else:
            known = dict.fromkeys([*self.columns, *rows.classes.tolist()])
            self.columns = list(known)
        if len(self.columns) > n_before:
            self._names = None

    def add(self, labels: Sequence[Any]) -> None:
        """The next labels."""
        for label in labels:
            self._number[label] = len(self.labels)
            self.labels.append(label)
            self._are_integers = self._are_integers and type(label) is int and abs(label) < 2**63
        if labels:
            self._names = None

    def names_of(self, numbers: NDArray[np.int32]) -> NDArray[Any]:
        """The labels with these numbers; where a number is -1, -1 or, if not all labels are integers, None."""
        are_integers = self._are_integers
        nothing = -1 if are_integers else None
        names = np.empty(numbers.size, dtype=np.int64 if are_integers else object)
        for i, number in enumerate(numbers.ravel().tolist()):
            names[i] = self.labels[number] if number >= 0 else nothing
        return names.reshape(numbers.shape)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop all others; those that stay are numbered anew, in their order."""
        self.labels = [label for label, stays in zip(self.labels, kept.tolist(), strict=True) if stays]
        self._number = {label: i for i, label in enumerate(self.labels)}
        self._names = None

    def _arrange(self) -> None:
        is_matrix = self.kind in ("csr", "dense")
        names = self.columns if is_matrix else label_order(self.labels)
        if is_matrix and isinstance(names, range):
            self._position = np.array(self.labels, dtype=np.int32)
        else:
            at = {label: i for i, label in enumerate(names)}
            self._position = np.array([at[label] for label in self.labels], dtype=np.int32)
        # Last: who finds this finds the other too.
        self._names = LabelNames(
            np.asarray(names) if self.kind == "multiclass" else as_class_array(list(names))
        )


_FORMS = {
    "csr": "a sparse matrix",
    "dense": "an array of 0 and 1",
    "lists": "a sequence of collections of labels",
    "multiclass": "one class per row",
}

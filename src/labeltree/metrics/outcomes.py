"""Decided label sets compared with the true sets: true positives, false negatives and false positives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from labeltree import sparse as sp
from labeltree.metrics.judgement import check_columns, check_known, check_unique
from labeltree.metrics.label_sets import IntArray, LabelLists, LabelSets, row_numbers
from labeltree.metrics.reading import LabelMatrix, Labels, read_both, read_matrix


@dataclass(frozen=True)
class Outcomes:
    """True positives, false negatives and false positives, per label, per row or in total."""

    both: IntArray
    only_true: IntArray
    only_pred: IntArray

    def total(self) -> Outcomes:
        """Return the sums, as arrays of one number."""
        return Outcomes(
            self.both.sum(keepdims=True), self.only_true.sum(keepdims=True), self.only_pred.sum(keepdims=True)
        )


def count_outcomes(truth: LabelSets, predicted: LabelSets, per: Literal["label", "row"]) -> Outcomes:
    """Count the outcomes of label sets of the same rows."""
    correct = truth.contains(predicted.rows, predicted.labels)
    if per == "label":
        of_true, of_pred, n = truth.labels, predicted.labels, truth.n_labels
    else:
        of_true, of_pred, n = truth.rows, predicted.rows, truth.n_rows
    both = np.bincount(of_pred[correct], minlength=n)
    return Outcomes(both, np.bincount(of_true, minlength=n) - both, np.bincount(of_pred, minlength=n) - both)


def read_decided(y_true: Labels, y_pred: Labels) -> tuple[LabelSets, LabelSets]:
    """Read true and predicted label sets with the same numbering."""
    truth, predicted, _ = read_both(y_true, y_pred)
    if isinstance(predicted, LabelLists):
        rows, labels = predicted.rows, predicted.labels
        check_known(labels, truth.n_labels, rows)
    elif _holds_label_ids(predicted, truth.n_labels):
        ids = predicted.astype(np.int64)
        check_known(ids, truth.n_labels)
        check_unique(ids)
        rows, labels = row_numbers(np.full(truth.n_rows, ids.shape[1])), ids.ravel()
    else:
        check_columns(predicted.shape[1], truth.n_labels)
        return truth, read_matrix(predicted, "y_pred")
    return truth, LabelSets.from_pairs(rows, labels, truth.n_rows, truth.n_labels)


def _holds_label_ids(predicted: LabelMatrix, n_labels: int) -> bool:
    """Return whether an array holds label ids, such as the top k, rather than 0 and 1 in a column for every label."""
    return not sp.issparse(predicted) and predicted.dtype.kind in "iu" and predicted.shape[1] < n_labels

"""What thresholds are tuned on: the (row, label) pairs that a model finds possible, and how many labels are true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from labeltree.metrics.label_sets import IntArray, LabelSets, row_numbers
from labeltree.metrics.outcomes import Outcomes
from labeltree.metrics.reading import LabelMatrix, canonical_csr, read_matrix


@dataclass(frozen=True)
class ValidationPairs:
    """Pairs with a score, row by row, and the true labels.

    Pairs that are neither true nor scored are nowhere: this is as sparse as labels are.

    Attributes
    ----------
    rows, labels, scores, hits : arrays of shape (n_pairs,)
        The scored pairs, in ascending order of rows, and whether the label is true.
    truth : LabelSets
        All true pairs, scored or not.
    n_unknown : int
        How many more true labels there are that no model could score: they are missed whatever is decided.
    floor : float
        Pairs with a score of at least this are all there.
    """

    rows: IntArray
    labels: IntArray
    scores: NDArray[np.float32]
    hits: NDArray[np.bool_]
    truth: LabelSets
    n_unknown: int = 0
    floor: float = 0.0

    @classmethod
    def of(cls, scores: Any, truth: LabelSets, n_unknown: int = 0, floor: float = 0.0) -> ValidationPairs:
        """The stored entries of a CSR matrix of scores."""
        rows = row_numbers(np.diff(scores.indptr))
        labels = scores.indices.astype(np.int64)
        values, hits = scores.data.astype(np.float32), truth.contains(rows, labels)
        return cls(rows, labels, values, hits, truth, n_unknown, floor)

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    @property
    def n_labels(self) -> int:
        return self.truth.n_labels

    @property
    def positives(self) -> IntArray:
        """How many rows have each label."""
        return np.bincount(self.truth.labels, minlength=self.n_labels)

    @property
    def n_positives(self) -> int:
        """How many labels all rows have together."""
        return len(self.truth.labels) + self.n_unknown

    def outcomes(self, threshold: float | NDArray[np.float32]) -> Outcomes:
        """What is found, missed and invented, for each label, if scores of at least this are predicted."""
        per_label = np.ndim(threshold) > 0
        predicted = self.scores >= (np.asarray(threshold)[self.labels] if per_label else threshold)
        both = np.bincount(self.labels[predicted & self.hits], minlength=self.n_labels)
        only_pred = np.bincount(self.labels[predicted & ~self.hits], minlength=self.n_labels)
        return Outcomes(both, self.positives - both, only_pred)


def read_validation_pairs(y_true: LabelMatrix, scores: Any) -> ValidationPairs:
    """Read the arguments of the public functions: matrices of one shape, a column for each label."""
    truth = read_matrix(y_true if issparse(y_true) else np.asarray(y_true), "y_true")
    shape = getattr(scores, "shape", None)
    if shape != (truth.n_rows, truth.n_labels):
        raise ValueError(
            f"scores must be a sparse matrix of the shape of y_true, {(truth.n_rows, truth.n_labels)}, as "
            f"predict_proba gives it, got {f'shape {shape}' if shape else type(scores).__name__}"
        )
    csr = canonical_csr(scores, "scores")
    if not ((csr.data >= 0) & (csr.data <= 1)).all():
        entry = int(np.argmin((csr.data >= 0) & (csr.data <= 1)))
        row = int(np.searchsorted(csr.indptr, entry, side="right")) - 1
        raise ValueError(f"scores must be probabilities, from 0 to 1, got {csr.data[entry]} in row {row}")
    if len(truth.labels) == 0:
        raise ValueError("y_true has no label in any row: there is nothing to tune thresholds by")
    return ValidationPairs.of(csr, truth)

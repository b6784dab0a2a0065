"""`ValidationPairs`: the scored (row, label) pairs and true labels that thresholds are tuned on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.metrics.label_sets import IntArray, LabelSets, row_numbers
from labeltree.metrics.outcomes import Outcomes
from labeltree.metrics.reading import LabelMatrix, canonical_csr, read_matrix


@dataclass(frozen=True)
class ValidationPairs:
    """Scored pairs, row by row, and the true labels. Pairs that are neither scored nor true are not stored.

    Attributes
    ----------
    rows, labels, scores, hits : arrays of shape (n_pairs,)
        The scored pairs, in ascending order of rows, and whether the label is true.
    truth : LabelSets
        All true pairs, scored or not.
    n_unknown : int
        Number of true labels that the model does not know. Every decision misses them.
    floor : float
        Smallest possible score of the stored pairs: all pairs with at least this score are stored.
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
        """Return the stored entries of a CSR matrix of scores as pairs."""
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
        """The number of rows with each label."""
        return np.bincount(self.truth.labels, minlength=self.n_labels)

    @property
    def n_positives(self) -> int:
        """The number of true labels of all rows."""
        return len(self.truth.labels) + self.n_unknown

    def outcomes(self, threshold: float | NDArray[np.float32]) -> Outcomes:
        """Return the true positives, misses and false positives of each label at a threshold."""
        per_label = np.ndim(threshold) > 0
        predicted = self.scores >= (np.asarray(threshold)[self.labels] if per_label else threshold)
        both = np.bincount(self.labels[predicted & self.hits], minlength=self.n_labels)
        only_pred = np.bincount(self.labels[predicted & ~self.hits], minlength=self.n_labels)
        return Outcomes(both, self.positives - both, only_pred)


def read_validation_pairs(y_true: LabelMatrix, scores: Any) -> ValidationPairs:
    """Read the arguments of the public functions: two matrices with a column for each label."""
    truth = read_matrix(y_true if sp.issparse(y_true) else np.asarray(y_true), "y_true")
    shape = getattr(scores, "shape", None)
    if shape != (truth.n_rows, truth.n_labels):
        raise ValueError(
            f"scores must be a sparse matrix of the shape of y_true, {(truth.n_rows, truth.n_labels)}, as "
            f"predict_proba gives it, got {f'shape {shape}' if shape else type(scores).__name__}"
        )
    csr = canonical_csr(scores, "scores")
    good = (csr.data >= 0) & (csr.data <= 1)
    if not good.all():
        entry = int(np.argmin(good))
        row = int(np.searchsorted(csr.indptr, entry, side="right")) - 1
        raise ValueError(f"scores must be probabilities, from 0 to 1, got {csr.data[entry]} in row {row}")
    if len(truth.labels) == 0:
        raise ValueError("y_true has no label in any row: there is nothing to tune thresholds by")
    return ValidationPairs.of(csr, truth)

"""`Examples`: the rows, labels and weights that a model is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.cached import cached_property
from labeltree.labels.reading import LabelRows
from labeltree.model.feature_reader import FeatureReader
from labeltree.validation import check_same_rows


@dataclass(frozen=True)
class Examples:
    """Rows with their labels.

    Attributes
    ----------
    features : FeatureMatrix
        The rows, as the kernel reads them.
    labels : LabelRows
    sample_weight : array of shape (n_rows,), optional
        Weight of each row, 1 by default.
    label_weight : array of shape (n_labels,), optional
        Weight of the positive rows of each label, 1 by default.
    reader : FeatureReader, optional
        The reader of the features.
    X
        The rows as the user passed them; node estimators read these.
    """

    features: _native.FeatureMatrix
    labels: LabelRows
    sample_weight: NDArray[np.float32] | None = None
    label_weight: NDArray[np.float32] | None = None
    reader: FeatureReader | None = None
    X: Any = None

    @cached_property
    def native(self) -> _native.Examples:
        """Return the kernel's view of these examples."""
        labels = self.labels
        return _native.Examples(
            self.features,
            labels.indptr,
            labels.indices,
            labels.n_labels,
            self.sample_weight,
            self.label_weight,
        )

    def check(self) -> None:
        """Raise `ValueError` unless a model can be trained on the examples."""
        n_rows, labels = self.features.n_rows, self.labels
        check_same_rows(n_rows, labels.n_rows)
        if n_rows >= 2**31:
            raise ValueError(f"at most 2,147,483,647 rows can be learned at once, got {n_rows}")
        if len(labels.indices) == 0:
            raise ValueError("y has no label in any row: there is nothing to learn")

    def take(self, rows: NDArray[np.int64]) -> Examples:
        """Return a copy of some rows."""
        taken = [self.features.row(int(row)) for row in rows]
        features = _native.FeatureMatrix.csr(
            np.cumsum([0, *(len(index) for index, _ in taken)], dtype=np.int64),
            np.concatenate([index for index, _ in taken], dtype=np.int64),
            np.concatenate([value for _, value in taken], dtype=np.float32),
            self.features.n_features,
            False,  # rows are already scaled
            self.features.dense_features,
        )
        return Examples(
            features,
            self.labels.take(rows),
            None if self.sample_weight is None else self.sample_weight[rows],
            self.label_weight,
        )

"""The rows that take longest, asked one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from labeltree.timing import shortest_seconds
from labeltree.validation import is_pair, is_rows_of_names, take_rows

#: Maximum number of rows to time, and how often each is timed.
TIMED_ROWS = 500
TIMES = 3


@dataclass(frozen=True)
class QueryTimes:
    """The first rows, asked one at a time for their best k labels.

    Attributes
    ----------
    k : int
    milliseconds : array of shape (n_rows,)
    evaluations : array of shape (n_rows,)
        The number of nodes that were evaluated.
    n_features : array of shape (n_rows,)
        The number of features that are not 0.
    """

    k: int
    milliseconds: NDArray[np.float64]
    evaluations: NDArray[np.int64]
    n_features: NDArray[np.int64]

    def slowest(self, n: int) -> NDArray[np.int64]:
        """Return the n rows that took longest."""
        return np.argsort(-self.milliseconds, kind="stable")[:n]


def query_times(model: Any, X: Any, n_rows: int, k: int) -> QueryTimes:
    """Time a model on the first rows of X, one by one."""
    first = np.arange(min(TIMED_ROWS, n_rows))
    rows = [take_rows(X, [i]) for i in first]
    model.predict_topk(rows[0], k)  # the first call also prepares the model for later calls
    milliseconds = 1000 * shortest_seconds(lambda row: model.predict_topk(row, k), rows, TIMES)
    evaluations = model.predict_topk(take_rows(X, first), k, return_evaluations=True)[-1]
    return QueryTimes(k, milliseconds, evaluations, np.array([_n_features(row) for row in rows]))


def _n_features(row: Any) -> int:
    """Return the number of features of a row, in any form that prediction takes."""
    if is_pair(row):
        return sum(map(_n_features, row))
    if is_rows_of_names(row):
        return len(row[0])
    return int(row.count_nonzero() if issparse(row) else np.count_nonzero(np.asarray(row)))

"""Which rows take longest to answer, one at a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from labeltree.validation import is_pair, is_rows_of_names

#: So many rows are timed, each so often: the least time counts, as the others have met with something else.
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
        How many nodes were asked.
    n_features : array of shape (n_rows,)
        The features that are not 0.
    """

    k: int
    milliseconds: NDArray[np.float64]
    evaluations: NDArray[np.int64]
    n_features: NDArray[np.int64]

    def slowest(self, n: int) -> NDArray[np.int64]:
        """The n rows that took longest."""
        return np.argsort(-self.milliseconds, kind="stable")[:n]


def query_times(model: Any, X: Any, n_rows: int, k: int) -> QueryTimes:
    """Ask a model about the first of the rows of X, one by one."""
    n_rows = min(TIMED_ROWS, n_rows)
    rows = [_take(X, np.array([i])) for i in range(n_rows)]
    model.predict_topk(rows[0], k)  # the first call also builds what later calls share
    least = np.full(n_rows, np.inf)
    for _ in range(TIMES):
        for i, row in enumerate(rows):
            started = time.perf_counter()
            model.predict_topk(row, k)
            least[i] = min(least[i], 1000 * (time.perf_counter() - started))
    evaluations = model.predict_topk(_take(X, np.arange(n_rows)), k, return_evaluations=True)[-1]
    return QueryTimes(k, least, evaluations, np.array([_n_features(row) for row in rows]))


def _take(X: Any, rows: NDArray[np.int64]) -> Any:
    return tuple(_safe_indexing(part, rows) for part in X) if is_pair(X) else _safe_indexing(X, rows)


def _n_features(row: Any) -> int:
    """The features of one row, in any form that prediction takes."""
    if is_pair(row):
        return sum(map(_n_features, row))
    if is_rows_of_names(row):
        return len(row[0])
    return int(row.count_nonzero() if issparse(row) else np.count_nonzero(np.asarray(row)))

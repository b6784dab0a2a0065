"""Precision, recall and nDCG of the best k labels, for every k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RankCurve:
    """Precision, recall and nDCG of the best 1, 2, … labels, averaged over rows."""

    precision: FloatArray
    recall: FloatArray
    ndcg: FloatArray

    @property
    def k(self) -> IntArray:
        return np.arange(1, len(self.precision) + 1)


def rank_curve(hits: NDArray[np.bool_], n_true: IntArray) -> RankCurve:
    """Compute the curve from the hits at each rank.

    Parameters
    ----------
    hits : array of shape (n_rows, n_ranks)
        Whether the label of the row at the rank is true.
    n_true : array of shape (n_rows,)
        The number of labels of each row. A row without labels counts as 0.

    Examples
    --------
    >>> import numpy as np
    >>> curve = rank_curve(np.array([[True, False], [True, True]]), np.array([1, 4]))
    >>> curve.precision, curve.recall
    (array([1.  , 0.75]), array([0.625, 0.75 ]))
    """
    ranks = np.arange(1, hits.shape[1] + 1)
    found = np.cumsum(hits, axis=1)
    gain = np.cumsum(hits / np.log2(ranks + 1), axis=1)
    best = np.cumsum((ranks <= n_true[:, None]) / np.log2(ranks + 1), axis=1)
    return RankCurve(
        precision=(found / ranks).mean(axis=0),
        recall=(found / np.maximum(n_true, 1)[:, None]).mean(axis=0),
        ndcg=np.divide(gain, best, out=np.zeros(gain.shape), where=best > 0).mean(axis=0),
    )

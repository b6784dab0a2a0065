"""Metrics as functions of the number of predicted labels, or of the threshold on probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.metrics import FBeta
from labeltree.metrics.label_sets import IntArray

FloatArray = NDArray[np.float64]

#: The thresholds of the curve. Pairs with a probability below the first are ignored.
THRESHOLDS = np.round(np.concatenate([[0.01, 0.02, 0.03, 0.04], np.arange(0.05, 1.0, 0.025)]), 3)


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


@dataclass(frozen=True)
class ThresholdCurve:
    """Metrics of the labels that reach a threshold, which is the same for all labels.

    Attributes
    ----------
    threshold, micro_f1, macro_f1 : arrays of shape (n_thresholds,)
    wrong_per_row : array of shape (n_thresholds,)
        False positives and false negatives per row: the Hamming loss times the number of labels.
    n_labels : int
    """

    threshold: FloatArray
    micro_f1: FloatArray
    macro_f1: FloatArray
    wrong_per_row: FloatArray
    n_labels: int

    @property
    def hamming_loss(self) -> FloatArray:
        return self.wrong_per_row / self.n_labels

    def best(self) -> dict[str, float]:
        """Return the threshold with the best value of each metric."""
        return {
            "micro-F1": float(self.threshold[np.argmax(self.micro_f1)]),
            "macro-F1": float(self.threshold[np.argmax(self.macro_f1)]),
            "Hamming loss": float(self.threshold[np.argmin(self.wrong_per_row)]),
        }


def threshold_curve(pairs: ValidationPairs, thresholds: FloatArray = THRESHOLDS) -> ThresholdCurve:
    """Compute metrics for each threshold, from pairs that all reach the first threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from labeltree.decisions.validation_pairs import read_validation_pairs
    >>> pairs = read_validation_pairs(csr_array([[1, 0], [0, 1]]), csr_array([[0.9, 0.4], [0.0, 0.6]]))
    >>> curve = threshold_curve(pairs, np.array([0.3, 0.5, 0.7]))
    >>> curve.micro_f1.round(2), curve.wrong_per_row
    (array([0.8 , 1.  , 0.67]), array([0.5, 0. , 0.5]))
    """
    macro = FBeta(average="macro")
    values = []
    for threshold in thresholds:
        outcomes = pairs.outcomes(float(np.float32(threshold)))
        n_found, n_invented = int(outcomes.both.sum()), int(outcomes.only_pred.sum())
        n_wrong = n_invented + pairs.n_positives - n_found  # unknown labels are missed, too
        f1 = 2 * n_found / max(2 * n_found + n_wrong, 1)
        values.append((f1, macro.value_of(outcomes, pairs.n_rows), n_wrong / pairs.n_rows))
    micro_f1, macro_f1, wrong = np.array(values).T
    return ThresholdCurve(thresholds, micro_f1, macro_f1, wrong, pairs.n_labels)

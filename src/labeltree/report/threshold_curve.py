"""What becomes of metrics as the threshold on probabilities moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.metrics import FBeta

FloatArray = NDArray[np.float64]

#: The thresholds of the curve; pairs with a smaller probability than the first are not looked at.
THRESHOLDS = np.round(np.concatenate([[0.01, 0.02, 0.03, 0.04], np.arange(0.05, 1.0, 0.025)]), 3)


@dataclass(frozen=True)
class ThresholdCurve:
    """Metrics of the labels that reach a threshold, one for all labels.

    Attributes
    ----------
    threshold, micro_f1, macro_f1 : arrays of shape (n_thresholds,)
    wrong_per_row : array of shape (n_thresholds,)
        Labels too many and too few, on average over rows: the Hamming loss times the number of labels.
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
        """The threshold at which each metric is best."""
        return {
            "micro-F1": float(self.threshold[np.argmax(self.micro_f1)]),
            "macro-F1": float(self.threshold[np.argmax(self.macro_f1)]),
            "Hamming loss": float(self.threshold[np.argmin(self.wrong_per_row)]),
        }


def threshold_curve(pairs: ValidationPairs, thresholds: FloatArray = THRESHOLDS) -> ThresholdCurve:
    """Compute metrics for each threshold, of pairs that all reach the first.

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
    micro_f1, macro_f1, wrong = [], [], []
    for threshold in thresholds:
        outcomes = pairs.outcomes(float(np.float32(threshold)))
        n_found, n_invented = int(outcomes.both.sum()), int(outcomes.only_pred.sum())
        n_wrong = n_invented + pairs.n_positives - n_found  # labels that no model knows are missed, too
        micro_f1.append(2 * n_found / max(2 * n_found + n_wrong, 1))
        macro_f1.append(macro.value_of(outcomes, pairs.n_rows))
        wrong.append(n_wrong / pairs.n_rows)
    return ThresholdCurve(
        np.asarray(thresholds, dtype=np.float64),
        np.array(micro_f1),
        np.array(macro_f1),
        np.array(wrong),
        pairs.n_labels,
    )

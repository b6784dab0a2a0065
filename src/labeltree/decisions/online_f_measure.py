"""Online F-measure optimisation (OFO), after Busa-Fekete, Szörényi, Dembczyński and Hüllermeier (2015).

The best threshold for F-beta is its largest value divided by 1 + beta². That value is not known, but that of what was
predicted so far is: row after row is predicted with the threshold that it gives, and then counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.validation_pairs import ValidationPairs, read_validation_pairs
from labeltree.metrics.linear_fractional import FBeta, Jaccard, ThresholdMetric
from labeltree.metrics.reading import LabelMatrix
from labeltree.validation import Number, check_arguments, check_count


@dataclass(frozen=True)
class OFO:
    """How online F-measure optimisation starts, and how long it goes on; as for `ofo_threshold`.

    Examples
    --------
    >>> from labeltree.decisions import OFO
    >>> OFO(a=10, b=20)
    OFO(a=10, b=20, epochs=5)
    """

    a: float = 1.0
    b: float = 2.0
    epochs: int = 5

    def __post_init__(self) -> None:
        above_0 = Number(0, 1e10, open_low=True)
        check_arguments("OFO", vars(self), {"a": above_0, "b": above_0})
        if self.a > self.b:
            raise ValueError(f"a / b is the first threshold: a must be at most b, got {self}")
        check_count("epochs", self.epochs)


def ofo_threshold(
    metric: ThresholdMetric,
    y_true: LabelMatrix,
    scores: Any,
    *,
    a: float = 1.0,
    b: float = 2.0,
    epochs: int = 5,
) -> float | NDArray[np.float32]:
    """Tune thresholds by online F-measure optimisation.

    Unlike the best threshold on the data, this assumes that scores are probabilities. Where they are, it is less
    drawn to chance on labels with few positives, and it needs no sorting: rows are visited one by one.

    Parameters
    ----------
    metric : FBeta or Jaccard
        Thresholds for F1 serve the Jaccard index too.
    y_true : sparse or dense 0/1 matrix of shape (n_rows, n_labels)
    scores : sparse matrix of shape (n_rows, n_labels)
        Probabilities, as `predict_proba` gives them.
    a, b : float
        What is counted before the first row: true positives, and positives times beta² plus positive predictions. The
        first threshold is a / b; the larger both, the longer a label stays near it.
    epochs : int
        Passes over the rows; counts go on.

    Returns
    -------
    float or array of shape (n_labels,)
        One threshold, or with a macro-averaged metric one for each label. Labels that are true nowhere have the one of
        all labels together.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from labeltree.metrics import FBeta
    >>> from labeltree.decisions import ofo_threshold
    >>> y_true = csr_array([[1, 0], [0, 1], [1, 1]])
    >>> scores = csr_array([[0.9, 0.2], [0.4, 0.6], [0.6, 0.1]])
    >>> round(ofo_threshold(FBeta(), y_true, scores), 3)
    0.432
    """
    ofo = OFO(a, b, epochs)
    return optimise(metric, read_validation_pairs(y_true, scores), ofo)


def optimise(metric: ThresholdMetric, pairs: ValidationPairs, ofo: OFO) -> float | NDArray[np.float32]:
    """As `ofo_threshold`."""
    beta = _beta(metric)
    # Below the floor it is not known what would be predicted.
    common = max(_one_for_all(beta, pairs, ofo), pairs.floor)
    if metric.average == "micro":
        return common
    thresholds = np.maximum(_one_for_each(beta, pairs, ofo), np.float32(pairs.floor))
    thresholds[pairs.positives == 0] = common
    return thresholds


def _beta(metric: ThresholdMetric) -> float:
    if isinstance(metric, FBeta):
        return metric.beta
    if isinstance(metric, Jaccard):
        return 1.0
    raise ValueError(
        f"OFO tunes thresholds for F-beta and the Jaccard index, not for {metric.name}; use method='exact'"
    )


def _row_ends(rows: NDArray[np.int64], n_rows: int) -> list[int]:
    """Where the pairs of each row begin, and where the last ends."""
    ends: list[int] = np.searchsorted(rows, np.arange(n_rows + 1)).tolist()
    return ends


def _one_for_all(beta: float, pairs: ValidationPairs, ofo: OFO) -> float:
    a, b = ofo.a, ofo.b
    ends = _row_ends(pairs.rows, pairs.n_rows)
    positives = (beta**2 * pairs.truth.sizes).tolist()
    unknown = beta**2 * pairs.n_unknown / pairs.n_rows  # which rows they were in is not known any more
    for _ in range(ofo.epochs):
        for begin, end, of_row in zip(ends[:-1], ends[1:], positives, strict=True):
            predicted = pairs.scores[begin:end] >= np.float32(a / b)
            a += np.count_nonzero(pairs.hits[begin:end] & predicted)
            b += of_row + unknown + np.count_nonzero(predicted)
    return float(a / b)


def _one_for_each(beta: float, pairs: ValidationPairs, ofo: OFO) -> NDArray[np.float32]:
    above, below = np.full(pairs.n_labels, float(ofo.a)), np.full(pairs.n_labels, float(ofo.b))
    ends = _row_ends(pairs.rows, pairs.n_rows)
    true_ends = _row_ends(pairs.truth.rows, pairs.n_rows)
    for _ in range(ofo.epochs):
        for row in range(pairs.n_rows):
            of_row = slice(ends[row], ends[row + 1])
            labels = pairs.labels[of_row]
            predicted = pairs.scores[of_row] >= (above[labels] / below[labels]).astype(np.float32)
            true = pairs.truth.labels[true_ends[row] : true_ends[row + 1]]
            # A label is there at most once in a row, so that nothing is lost.
            above[labels] += predicted & pairs.hits[of_row]
            below[labels] += predicted
            below[true] += beta**2
    thresholds: NDArray[np.float32] = (above / below).astype(np.float32)
    return thresholds

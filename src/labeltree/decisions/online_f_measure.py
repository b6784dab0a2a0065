"""Online F-measure optimisation (OFO), after Busa-Fekete, Szörényi, Dembczyński and Hüllermeier (2015).

The best threshold for F-beta is the maximum of F-beta divided by 1 + beta². The maximum is not known. OFO estimates it
by F-beta of the predictions so far: each row is predicted with the current threshold, and then updates the counts.
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
    """The options of online F-measure optimisation: the initial counts `a` and `b`, and the number of `epochs`.

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

    Unlike `exact_threshold`, this assumes that scores are probabilities. If they are, it overfits less on labels with
    few positives. It visits rows one by one and needs no sorting.

    Parameters
    ----------
    metric : FBeta or Jaccard
        The best thresholds for F1 are also the best for the Jaccard index.
    y_true : sparse or dense 0/1 matrix of shape (n_rows, n_labels)
    scores : sparse matrix of shape (n_rows, n_labels)
        Probabilities, as `predict_proba` gives them.
    a, b : float
        Initial counts: of true positives, and of positives times beta² plus positive predictions. The first threshold
        is a / b. Larger counts keep thresholds near it for longer.
    epochs : int
        Number of passes over the rows. Counts are kept from pass to pass.

    Returns
    -------
    float or array of shape (n_labels,)
        One threshold for all labels; with a macro-averaged metric, one for each label. Labels without positives get
        the common threshold of all labels.

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
    return optimise(metric, read_validation_pairs(y_true, scores), OFO(a, b, epochs))


def optimise(metric: ThresholdMetric, pairs: ValidationPairs, ofo: OFO) -> float | NDArray[np.float32]:
    """Return the tuned threshold, or one for each label, as `ofo_threshold` does."""
    beta = _beta(metric)
    # Predictions below the floor are not known.
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
    """Return where the pairs of each row begin, and where the last row ends."""
    ends: list[int] = np.searchsorted(rows, np.arange(n_rows + 1)).tolist()
    return ends


def _one_for_all(beta: float, pairs: ValidationPairs, ofo: OFO) -> float:
    a, b = ofo.a, ofo.b
    ends = _row_ends(pairs.rows, pairs.n_rows)
    positives = (beta**2 * pairs.truth.sizes).tolist()
    unknown = beta**2 * pairs.n_unknown / pairs.n_rows  # their rows are not known: spread them evenly
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
            # A row has a label at most once, so these assignments lose no count.
            above[labels] += predicted & pairs.hits[of_row]
            below[labels] += predicted
            below[true] += beta**2
    thresholds: NDArray[np.float32] = (above / below).astype(np.float32)
    return thresholds

"""The best thresholds for a metric on given data, found by trying every cut between two scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.validation_pairs import ValidationPairs, read_validation_pairs
from labeltree.metrics.label_sets import IntArray
from labeltree.metrics.linear_fractional import FloatArray, ThresholdMetric
from labeltree.metrics.reading import LabelMatrix

#: The threshold if all thresholds are equally good.
UNDECIDED = 0.5

#: Values that differ by less are equal: the difference is rounding.
SAME = 1e-12

#: The value of a metric, from true positives, false positives and the number of their group.
GroupValue = Callable[[IntArray, IntArray, IntArray], FloatArray]


def exact_threshold(metric: ThresholdMetric, y_true: LabelMatrix, scores: Any) -> float | NDArray[np.float32]:
    """Return the best threshold on these data; with a macro-averaged metric, the best one for each label.

    A label is predicted if its score is at least the threshold. Scores that are not stored are never predicted. The
    threshold is half-way between two scores. If all thresholds of a label are equally good, for example because no row
    has the label, it gets the best common threshold of all labels.

    Parameters
    ----------
    metric : ThresholdMetric
    y_true : sparse or dense 0/1 matrix of shape (n_rows, n_labels)
    scores : sparse matrix of shape (n_rows, n_labels)
        Probabilities, as `predict_proba` gives them.

    Returns
    -------
    float or array of shape (n_labels,)

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from labeltree.metrics import FBeta
    >>> from labeltree.decisions import exact_threshold
    >>> y_true = csr_array([[1, 0], [0, 1], [1, 1]])
    >>> scores = csr_array([[0.9, 0.2], [0.4, 0.3], [0.6, 0.3]])
    >>> exact_threshold(FBeta(), y_true, scores)
    0.25
    >>> exact_threshold(FBeta(average="macro"), y_true, scores)
    array([0.5 , 0.25], dtype=float32)
    """
    return search(metric, read_validation_pairs(y_true, scores))


def search(metric: ThresholdMetric, pairs: ValidationPairs) -> float | NDArray[np.float32]:
    """Return the best threshold, or one for each label, as `exact_threshold` does."""
    n_positives, n_pairs = pairs.n_positives, pairs.n_rows * pairs.n_labels

    def common_value(tp: IntArray, fp: IntArray, _: IntArray) -> FloatArray:
        return metric.value(fp, n_positives - tp, n_positives, n_pairs)

    common = float(_best_thresholds(pairs, np.zeros_like(pairs.labels), 1, common_value, UNDECIDED)[0])
    if metric.average == "micro":
        return common
    present, group = np.unique(pairs.labels, return_inverse=True)
    positives, n_rows = pairs.positives[present], pairs.n_rows

    def value(tp: IntArray, fp: IntArray, at: IntArray) -> FloatArray:
        return metric.value(fp, positives[at] - tp, positives[at], n_rows)

    thresholds = np.full(pairs.n_labels, common, dtype=np.float32)
    thresholds[present] = _best_thresholds(pairs, group, len(present), value, common)
    return thresholds


def _best_thresholds(
    pairs: ValidationPairs, groups: IntArray, n_groups: int, value: GroupValue, undecided: float
) -> NDArray[np.float32]:
    """Return the best threshold of each group of pairs, from the value at every cut between two scores."""
    order = np.lexsort((-pairs.scores, groups))
    group, score, hit = groups[order], pairs.scores[order], pairs.hits[order]
    n = len(order)
    starts = np.searchsorted(group, np.arange(n_groups))
    n_hits = np.concatenate([[0], np.cumsum(hit)])
    # A cut comes after the last of several equal scores.
    is_cut = np.append((group[1:] != group[:-1]) | (score[1:] != score[:-1]), True)[:n]
    cut = np.flatnonzero(is_cut)
    at = group[cut]
    tp = n_hits[cut + 1] - n_hits[starts[at]]
    fp = cut + 1 - starts[at] - tp
    values = value(tp, fp, at)

    everyone = np.arange(n_groups)
    nothing = value(np.zeros_like(everyone), np.zeros_like(everyone), everyone)
    best, worst = nothing.copy(), nothing.copy()
    np.maximum.at(best, at, values)
    np.minimum.at(worst, at, values)

    thresholds = np.full(n_groups, undecided, dtype=np.float32)
    decided = best - worst > SAME
    # In reverse, so that the last assignment of equally good cuts is the one with fewest predictions.
    winning = np.flatnonzero(values >= best[at] - SAME)[::-1]
    thresholds[at[winning]] = _below_cut(group, score, cut[winning], pairs.floor)
    # Predicting nothing is a cut too: above the highest score.
    none = np.flatnonzero(decided & (nothing >= best - SAME))
    thresholds[none] = np.nextafter(score[starts[none]], np.float32(2))
    thresholds[~decided] = undecided
    return thresholds


def _below_cut(
    group: IntArray, score: NDArray[np.float32], cut: IntArray, floor: float
) -> NDArray[np.float32]:
    """Return thresholds that accept the scores before each cut: half-way to the next score, or to the floor."""
    following = np.minimum(cut + 1, len(score) - 1)
    has_next = (group[following] == group[cut]) & (following > cut)
    lower = np.where(has_next, score[following], np.float32(floor))
    halfway = ((score[cut].astype(np.float64) + lower) / 2).astype(np.float32)
    # There is no number half-way between neighbouring float32 numbers.
    return np.where(halfway > lower, halfway, score[cut])

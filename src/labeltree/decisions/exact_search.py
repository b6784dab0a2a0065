"""The thresholds with the largest value of a metric on given data, found by trying all that make a difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.validation_pairs import ValidationPairs, read_validation_pairs
from labeltree.metrics.label_sets import IntArray
from labeltree.metrics.linear_fractional import FloatArray, ThresholdMetric
from labeltree.metrics.reading import LabelMatrix

#: Where no threshold is better than another, and there is nothing else to go by.
UNDECIDED = 0.5

#: Values that differ by less are the same: they differ by rounding.
SAME = 1e-12

#: What `value` is asked for: true and false positives, and the group they are counted in.
GroupValue = Callable[[IntArray, IntArray, IntArray], FloatArray]


def exact_threshold(metric: ThresholdMetric, y_true: LabelMatrix, scores: Any) -> float | NDArray[np.float32]:
    """Find the threshold, or with a macro-averaged metric one for each label, that is best on these data.

    A label is predicted if its score is at least the threshold. Only stored scores are looked at: what is not stored is
    never predicted. Of all thresholds between two scores it is the one half-way. Where no threshold is better than
    another, as for a label that is true nowhere, it is that of all labels together.

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
    """As `exact_threshold`."""
    common = float(_search_common(metric, pairs)[0])
    if metric.average == "micro":
        return common
    present, group = np.unique(pairs.labels, return_inverse=True)
    positives, n_rows = pairs.positives[present], pairs.n_rows

    def value(tp: IntArray, fp: IntArray, at: IntArray) -> FloatArray:
        return metric.value(fp, positives[at] - tp, positives[at], n_rows)

    thresholds = np.full(pairs.n_labels, common, dtype=np.float32)
    thresholds[present] = _best_thresholds(pairs, group, len(present), value, common)
    return thresholds


def _search_common(metric: ThresholdMetric, pairs: ValidationPairs) -> NDArray[np.float32]:
    n_positives, n_pairs = pairs.n_positives, pairs.n_rows * pairs.n_labels

    def value(tp: IntArray, fp: IntArray, _: IntArray) -> FloatArray:
        return metric.value(fp, n_positives - tp, n_positives, n_pairs)

    return _best_thresholds(pairs, np.zeros_like(pairs.labels), 1, value, UNDECIDED)


def _best_thresholds(
    pairs: ValidationPairs, groups: IntArray, n_groups: int, value: GroupValue, undecided: float
) -> NDArray[np.float32]:
    """The best threshold of each group of pairs, by the value at every cut between two scores."""
    order = np.lexsort((-pairs.scores, groups))
    group, score, hit = groups[order], pairs.scores[order], pairs.hits[order]
    n = len(order)
    starts = np.searchsorted(group, np.arange(n_groups))
    n_hits = np.concatenate([[0], np.cumsum(hit)])
    # A cut is after the last of equal scores.
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
    # Backwards, so that of equally good cuts the one that predicts least stays.
    winning = np.flatnonzero(values >= best[at] - SAME)[::-1]
    thresholds[at[winning]] = _below_cut(group, score, cut[winning], pairs.floor)
    # That nothing is best is a cut too: above the highest score.
    none = np.flatnonzero(decided & (nothing >= best - SAME))
    thresholds[none] = np.nextafter(score[starts[none]], np.float32(2))
    thresholds[~decided] = undecided
    return thresholds


def _below_cut(
    group: IntArray, score: NDArray[np.float32], cut: IntArray, floor: float
) -> NDArray[np.float32]:
    """Thresholds that let pass what is before the cut: half-way to the next score, or to the floor below all."""
    following = np.minimum(cut + 1, len(score) - 1)
    has_next = (group[following] == group[cut]) & (following > cut)
    lower = np.where(has_next, score[following], np.float32(floor))
    halfway = ((score[cut].astype(np.float64) + lower) / 2).astype(np.float32)
    # Between neighbouring numbers there is none half-way.
    return np.where(halfway > lower, halfway, score[cut])

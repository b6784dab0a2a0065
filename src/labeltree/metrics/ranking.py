"""Metrics of rankings, at a cut-off k."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.judgement import Judgement, judge, top_positions
from labeltree.metrics.label_sets import NO_LABEL, IntArray
from labeltree.metrics.propensity import InversePropensity, weights_of
from labeltree.metrics.reading import Labels
from labeltree.validation import check_count

FloatArray = NDArray[np.float64]


def precision_at_k(y_true: Labels, y_pred: Labels, k: int = 5) -> float:
    """Compute the fraction of the first k ranks that hold a true label, on average over rows.

    Parameters
    ----------
    y_true : sparse matrix, 2-d array, list of lists, or `labeltree.data.Store`
        True labels: a 0/1 matrix, a list with one list of labels (of any hashable kind) per row, or those of a store.
    y_pred : integer array of shape (n_rows, at least k), sparse matrix or list of lists
        Labels in rank order, as `predict_topk` gives: columns of `y_true`, or labels where `y_true` is a
        list; -1 (or None) where there is no prediction. In a sparse matrix, scores: the stored entries of a
        row are ranked from high to low, equal scores by column.
    k : int, default 5
        The number of ranks that count. A rank without a prediction is a miss: the divisor is always k.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import precision_at_k
    >>> precision_at_k([["cat"], ["cat", "dog"]], [["cat", "emu"], ["dog", "cat"]], k=2)
    0.75
    """
    return _precision(judge(y_true, y_pred, k), k).value


def recall_at_k(y_true: Labels, y_pred: Labels, k: int = 5) -> float:
    """Compute the fraction of true labels that the first k ranks hold, on average over rows.

    Parameters
    ----------
    y_true, y_pred, k
        As for `precision_at_k`. A row without true labels counts as 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import recall_at_k
    >>> recall_at_k([["cat"], ["cat", "dog"]], [["cat", "emu"], ["dog", "cat"]], k=1)
    0.75
    """
    return _recall(judge(y_true, y_pred, k), k).value


def ndcg_at_k(y_true: Labels, y_pred: Labels, k: int = 5) -> float:
    """Compute the discounted cumulative gain of the first k ranks, divided by that of a perfect ranking.

    A hit at rank r gains ``1 / log2(r + 1)``.

    Parameters
    ----------
    y_true, y_pred, k
        As for `precision_at_k`. A row without true labels counts as 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import ndcg_at_k
    >>> round(ndcg_at_k([["cat"], ["cat", "dog"]], [["emu", "cat"], ["dog", "cat"]], k=2), 4)
    0.8155
    """
    return _ndcg(judge(y_true, y_pred, k), k).value


def f1_at_k(y_true: Labels, y_pred: Labels, k: int = 5) -> float:
    """Compute the F1 of each row if its first k ranks are predicted, on average over rows: Annif's F1@5.

    The F1 of a row is twice the number of hits, divided by the number of predicted and the number of true labels. It is
    scikit-learn's ``f1_score(..., average="samples")`` of the first k ranks.

    Parameters
    ----------
    y_true, y_pred, k
        As for `precision_at_k`. A rank without a prediction is not predicted. A row without true labels counts as 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import f1_at_k
    >>> f1_at_k([["cat"], ["cat", "dog"]], [["cat", "emu"], ["dog", "cat"]], k=1)
    0.8333333333333333
    """
    return _f1(judge(y_true, y_pred, k), k).value


def coverage_at_k(y_true: Labels, y_pred: Labels, k: int = 5) -> float:
    """Compute the fraction of the distinct true labels that the first k ranks of some row predict correctly.

    Parameters
    ----------
    y_true, y_pred, k
        As for `precision_at_k`. Labels that are true nowhere in `y_true` do not count.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import coverage_at_k
    >>> coverage_at_k([["cat"], ["cat", "dog"]], [["cat"], ["cat"]], k=1)
    0.5
    """
    return _coverage(judge(y_true, y_pred, k), k)


def psprecision_at_k(
    y_true: Labels, y_pred: Labels, k: int = 5, *, inverse_propensity: InversePropensity
) -> float:
    """Compute the propensity-scored precision: hits count by their weight, rare labels most.

    The sum of the weights of all hits in the first k ranks is divided by the largest possible sum, so that 1 is
    perfect. Both are sums over all rows, as is usual in the literature.

    Parameters
    ----------
    y_true, y_pred, k
        As for `precision_at_k`.
    inverse_propensity : array of shape (n_labels,) or mapping from label to weight
        The weights: the result of `inverse_propensity` for the *training* labels, a mapping if `y_true` is a
        list.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import psprecision_at_k
    >>> weights = {"cat": 1.0, "dog": 3.0}
    >>> psprecision_at_k([["cat"], ["cat", "dog"]], [["cat"], ["cat"]], k=1, inverse_propensity=weights)
    0.5
    """
    judgement = judge(y_true, y_pred, k)
    return _psprecision(*_weighted_gains(judgement, inverse_propensity), k).value


def psndcg_at_k(
    y_true: Labels, y_pred: Labels, k: int = 5, *, inverse_propensity: InversePropensity
) -> float:
    """Compute the propensity-scored nDCG: the gain of a hit is multiplied by the weight of its label.

    Each row's gain is divided by ``sum(1 / log2(r + 1))`` over the ranks r up to k or the number of true
    labels, whichever is less. The sum over rows is divided by the largest possible sum, so that 1 is perfect.

    Parameters
    ----------
    y_true, y_pred, k, inverse_propensity
        As for `psprecision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import psndcg_at_k
    >>> weights = {"cat": 1.0, "dog": 3.0}
    >>> round(psndcg_at_k([["cat", "dog"]], [["cat", "dog"]], k=2, inverse_propensity=weights), 4)
    0.7967
    """
    judgement = judge(y_true, y_pred, k)
    return _psndcg(judgement.truth.sizes, *_weighted_gains(judgement, inverse_propensity), k).value


def evaluate(
    y_true: Labels,
    y_pred: Labels,
    ks: Sequence[int] = (1, 3, 5),
    *,
    inverse_propensity: InversePropensity | None = None,
) -> dict[str, float]:
    """Compute all metrics of a ranking at several cut-offs, reading the labels once.

    Parameters
    ----------
    y_true, y_pred
        As for `precision_at_k`; `y_pred` needs as many ranks as the largest cut-off.
    ks : sequence of int, default (1, 3, 5)
        The cut-offs.
    inverse_propensity : array, mapping or None, default None
        As for `psprecision_at_k`. Without it, PSP and PSnDCG are left out.

    Returns
    -------
    dict
        From names like ``"P@1"`` to values: P, nDCG, PSP, PSnDCG, recall, F1 and coverage, each at all cut-offs.

    Examples
    --------
    >>> from labeltree.metrics import evaluate
    >>> evaluate([["cat"], ["cat", "dog"]], [["cat"], ["emu", "dog"]], ks=(1, 2))["P@1"]
    0.5
    """
    check_cut_offs(ks)
    judgement = judge(y_true, y_pred, max(ks))
    ratios = ranking_ratios(judgement, ks, inverse_propensity)
    values = {name: ratio.value for name, ratio in ratios.items()}
    return values | {f"coverage@{k}": _coverage(judgement, k) for k in ks}


def check_cut_offs(ks: Sequence[int]) -> None:
    """Raise `ValueError` unless `ks` has at least one cut-off."""
    if not isinstance(ks, Sequence | np.ndarray) or len(ks) == 0:
        raise ValueError(f"ks must be a sequence of at least one cut-off, got {ks!r}")
    for k in ks:
        check_count("k", k)


class Ratio(NamedTuple):
    """A metric as the ratio of two sums over rows: the terms of each row. Resampling rows weighs these terms."""

    numerator: FloatArray
    denominator: FloatArray

    @property
    def value(self) -> float:
        total = self.denominator.sum()
        return float(self.numerator.sum() / total) if total > 0 else 0.0


def ranking_ratios(
    judgement: Judgement, ks: Sequence[int], inverse_propensity: InversePropensity | None
) -> dict[str, Ratio]:
    """Return all metrics of a ranking that are ratios of sums over rows, by name."""
    ratios = {f"P@{k}": _precision(judgement, k) for k in ks}
    ratios |= {f"nDCG@{k}": _ndcg(judgement, k) for k in ks}
    if inverse_propensity is not None:
        earned, attainable = _weighted_gains(judgement, inverse_propensity)
        ratios |= {f"PSP@{k}": _psprecision(earned, attainable, k) for k in ks}
        ratios |= {f"PSnDCG@{k}": _psndcg(judgement.truth.sizes, earned, attainable, k) for k in ks}
    ratios |= {f"recall@{k}": _recall(judgement, k) for k in ks}
    ratios |= {f"F1@{k}": _f1(judgement, k) for k in ks}
    return ratios


def _precision(judgement: Judgement, k: int) -> Ratio:
    hits = judgement.hits[:, :k].sum(axis=1).astype(np.float64)
    return Ratio(hits, np.full(len(hits), float(k)))


def _recall(judgement: Judgement, k: int) -> Ratio:
    return _mean(judgement.hits[:, :k].sum(axis=1) / np.maximum(judgement.truth.sizes, 1))


def _f1(judgement: Judgement, k: int) -> Ratio:
    n_predicted = np.count_nonzero(judgement.labels[:, :k] != NO_LABEL, axis=1)
    n_both = judgement.hits[:, :k].sum(axis=1)
    return _mean(2 * n_both / np.maximum(n_predicted + judgement.truth.sizes, 1))


def _ndcg(judgement: Judgement, k: int) -> Ratio:
    return _mean(_discounted(judgement.hits, k) / _ideal_gain(judgement.truth.sizes, k))


def _mean(values: FloatArray) -> Ratio:
    return Ratio(values, np.ones(len(values)))


def _coverage(judgement: Judgement, k: int) -> float:
    covered = _n_distinct(judgement.labels[:, :k][judgement.hits[:, :k]])
    return covered / max(_n_distinct(judgement.truth.labels), 1)


def _n_distinct(labels: IntArray) -> int:
    return int(np.count_nonzero(np.bincount(labels)))


def _weighted_gains(
    judgement: Judgement, inverse_propensity: InversePropensity
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of the hit at each rank, and of the hits of the best ranking."""
    truth = judgement.truth
    weights = weights_of(truth, judgement.names, inverse_propensity)
    earned = np.zeros(judgement.hits.shape)
    earned[judgement.hits] = weights[judgement.labels[judgement.hits]]
    true_weights = weights[truth.labels]
    best = top_positions(truth.sizes, true_weights, judgement.hits.shape[1])
    attainable = np.append(true_weights, 0.0)[best]  # -1 means no more labels and selects the 0
    return earned, attainable


def _psprecision(earned: FloatArray, attainable: FloatArray, k: int) -> Ratio:
    return Ratio(earned[:, :k].sum(axis=1), attainable[:, :k].sum(axis=1))


def _psndcg(sizes: IntArray, earned: FloatArray, attainable: FloatArray, k: int) -> Ratio:
    ideal = _ideal_gain(sizes, k)
    return Ratio(_discounted(earned, k) / ideal, _discounted(attainable, k) / ideal)


def _discounts(k: int) -> FloatArray:
    discounts: FloatArray = 1 / np.log2(np.arange(2, k + 2))
    return discounts


def _discounted(gains: NDArray[np.bool_] | FloatArray, k: int) -> FloatArray:
    # Summed in the same order as the ideal gain, so that a perfect ranking scores exactly 1.
    discounted: FloatArray = np.cumsum(gains[:, :k] * _discounts(k), axis=1)[:, -1]
    return discounted


def _ideal_gain(sizes: IntArray, k: int) -> FloatArray:
    """Return the discounted gain of a perfect ranking; 1 for rows without labels, whose gain is 0."""
    ideal: FloatArray = np.cumsum(_discounts(k))[np.clip(sizes, 1, k) - 1]
    return ideal

"""Metrics of decided label sets: F-beta, Jaccard, Hamming."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.outcomes import count_outcomes, read_decided
from labeltree.metrics.reading import Labels


def f_beta(
    y_true: Labels, y_pred: Labels, beta: float = 1.0, average: Literal["micro", "macro"] = "micro"
) -> float:
    """Compute the F-beta measure, ``(1 + b²) TP / ((1 + b²) TP + b² FN + FP)``.

    Parameters
    ----------
    y_true : sparse matrix, 2-d array or list of lists
        True labels.
    y_pred : sparse matrix, 2-d array or list of lists
        Predicted labels: 0/1 like `y_true`, or lists of labels, or an integer array with fewer columns than
        `y_true` whose rows are label ids (-1 for none), as `predict_topk` gives.
    beta : float, default 1.0
        The weight of recall relative to precision; 0 gives the precision.
    average : {"micro", "macro"}, default "micro"
        Count over all labels together, or take the mean over labels. A label that is neither true nor
        predicted in any row counts as 0 in the mean. In lists, only labels that occur count.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import f_beta
    >>> f_beta([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]])
    0.6666666666666666
    >>> f_beta([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]], average="macro")
    0.5555555555555555
    """
    if not (np.isfinite(beta) and beta >= 0):
        raise ValueError(f"beta must be a number of at least 0, got {beta}")
    _check_average(average, ("micro", "macro"))
    counts = count_outcomes(*read_decided(y_true, y_pred), per="label")
    if average == "micro":
        counts = counts.total()
    weighted = (1 + beta**2) * counts.both
    return _mean_ratio(weighted, weighted + beta**2 * counts.only_true + counts.only_pred)


def jaccard(
    y_true: Labels, y_pred: Labels, average: Literal["micro", "macro", "samples"] = "samples"
) -> float:
    """Compute the Jaccard index: labels that are true and predicted, divided by labels that are true or predicted.

    Parameters
    ----------
    y_true, y_pred : sparse matrix, 2-d array or list of lists
        As for `f_beta`.
    average : {"micro", "macro", "samples"}, default "samples"
        Count over everything together, or take the mean over labels, or over rows. A label or a row with
        nothing true and nothing predicted counts as 0 in the mean.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import jaccard
    >>> jaccard([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]])
    0.6666666666666666
    """
    _check_average(average, ("micro", "macro", "samples"))
    counts = count_outcomes(*read_decided(y_true, y_pred), per="row" if average == "samples" else "label")
    if average == "micro":
        counts = counts.total()
    return _mean_ratio(counts.both, counts.both + counts.only_true + counts.only_pred)


def hamming_loss(y_true: Labels, y_pred: Labels) -> float:
    """Compute the fraction of all (row, label) pairs that are predicted wrongly.

    Parameters
    ----------
    y_true, y_pred : sparse matrix, 2-d array or list of lists
        As for `f_beta`. In lists, only labels that occur count.

    Returns
    -------
    float

    Examples
    --------
    >>> from labeltree.metrics import hamming_loss
    >>> hamming_loss([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]])
    0.3333333333333333
    """
    truth, predicted = read_decided(y_true, y_pred)
    counts = count_outcomes(truth, predicted, per="row").total()
    n_pairs = np.array([truth.n_rows * truth.n_labels])
    return _mean_ratio(counts.only_true + counts.only_pred, n_pairs)


def _check_average(average: str, allowed: tuple[str, ...]) -> None:
    if average not in allowed:
        raise ValueError(f"average must be one of {', '.join(map(repr, allowed))}, got {average!r}")


def _mean_ratio(
    numerator: NDArray[np.integer] | NDArray[np.floating],
    denominator: NDArray[np.integer] | NDArray[np.floating],
) -> float:
    """Return the mean of the ratios; 0/0 counts as 0."""
    ratios = np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)
    return float(ratios.mean()) if ratios.size else 0.0

"""Thresholds that need no validation data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.metrics.linear_fractional import ThresholdMetric


def fixed_threshold(metric: ThresholdMetric, prior: ArrayLike) -> float | NDArray[np.float32]:
    """Return the best threshold of a metric whose denominator does not depend on errors: Hamming or AM.

    Parameters
    ----------
    metric : ThresholdMetric
    prior : array of shape (n_labels,)
        The share of rows with each label.

    Returns
    -------
    float or array of shape (n_labels,)
        One threshold for all labels; with a macro-averaged metric, one for each label.

    Examples
    --------
    >>> from labeltree.metrics import AM, Hamming
    >>> from labeltree.decisions import fixed_threshold
    >>> fixed_threshold(Hamming(), [0.1, 0.3])
    0.5
    >>> fixed_threshold(AM(average="macro"), [0.1, 0.3])
    array([0.1, 0.3], dtype=float32)
    """
    if not metric.has_fixed_threshold:
        raise ValueError(
            f"the best threshold for {metric.name} depends on the data: tune it with method='exact' or method='ofo'"
        )
    rate = np.asarray(prior, dtype=np.float64)
    if rate.ndim != 1 or not ((rate >= 0) & (rate <= 1)).all():
        raise ValueError("prior must have a number from 0 to 1 for each label")
    if metric.average == "micro":
        return float(metric.optimal_threshold(0.0, float(rate.mean())))
    thresholds = np.broadcast_to(metric.optimal_threshold(0.0, rate), rate.shape)
    return np.array(thresholds, dtype=np.float32)

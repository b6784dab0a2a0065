"""Metrics by their names."""

from __future__ import annotations

import re
from typing import TypeAlias

from labeltree.metrics.cut_off import KINDS, CutOffMetric
from labeltree.metrics.linear_fractional import AM, Average, FBeta, Hamming, Jaccard, ThresholdMetric

Metric: TypeAlias = ThresholdMetric | CutOffMetric

#: The names that tables have for metrics at k.
_SHORT = {"p": "precision", "r": "recall", "psp": "psprecision"}


def get_metric(name: str | Metric) -> Metric:
    """The metric of this name; an object that is one is returned as it is.

    Parameters
    ----------
    name : str
        ``hamming``; ``micro_f1``, ``macro_f1`` and so on with any beta, as ``micro_f0.5``; ``micro_jaccard``,
        ``macro_jaccard``; ``micro_am``, ``macro_am``; or ``precision@5``, ``recall@5``, ``ndcg@5``, ``psprecision@5``,
        ``psndcg@5`` with any cut-off. Upper and lower case are the same, and so are P, R and PSP for the longer words.

    Examples
    --------
    >>> from labeltree.metrics import get_metric
    >>> get_metric("macro_f2")
    FBeta(average='macro', beta=2.0)
    >>> get_metric("P@5").name
    'precision@5'
    """
    if isinstance(name, ThresholdMetric | CutOffMetric):
        return name
    metric = _parse(name.lower()) if isinstance(name, str) else None
    if metric is None:
        raise ValueError(
            "metric must be hamming, micro_ or macro_ followed by f1 (or another beta), jaccard or am, "
            f"{', '.join(KINDS)} followed by @ and a number, or an object of labeltree.metrics, got {name!r}"
        )
    return metric


def _parse(name: str) -> Metric | None:
    if name == "hamming":
        return Hamming()
    kind, at, k = name.partition("@")
    if at:
        kind = _SHORT.get(kind, kind)
        known = kind in KINDS and re.fullmatch(r"[1-9][0-9]{0,8}", k, re.ASCII)
        return CutOffMetric(kind, int(k)) if known else None
    match = re.fullmatch(r"(micro|macro)_(jaccard|am|f([0-9]+(?:\.[0-9]+)?))", name, re.ASCII)
    if match is None:
        return None
    average: Average = "micro" if match[1] == "micro" else "macro"
    if match[3] is not None:
        return FBeta(average, float(match[3])) if float(match[3]) > 0 else None
    return Jaccard(average) if match[2] == "jaccard" else AM(average)

"""Metrics by their names."""

from __future__ import annotations

from typing import TypeAlias

from labeltree.metrics.cut_off import CutOffMetric
from labeltree.metrics.linear_fractional import ThresholdMetric

Metric: TypeAlias = ThresholdMetric | CutOffMetric


def get_metric(name: str | Metric) -> Metric:
    """Return the metric with this name. A metric object is returned unchanged.

    Parameters
    ----------
    name : str
        ``hamming``; ``micro_f1``, ``macro_f1`` and so on with any beta, as ``micro_f0.5``; ``micro_jaccard``,
        ``macro_jaccard``; ``micro_am``, ``macro_am``; or ``precision@5``, ``recall@5``, ``ndcg@5``, ``psprecision@5``,
        ``psndcg@5`` with any cut-off. Case does not matter, and P, R and PSP are short for the longer words. A subclass
        of `ThresholdMetric` adds its own names.

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
    kinds: list[type[Metric]] = [*ThresholdMetric.__subclasses__(), CutOffMetric]
    for kind in kinds:
        if isinstance(name, str) and (metric := kind.from_name(name.lower())) is not None:
            return metric
    names = ", ".join(known for kind in kinds for known in kind.names)
    raise ValueError(
        f"metric must be a name such as {names} (with any beta or cut-off), or an object of labeltree.metrics, "
        f"got {name!r}"
    )

"""Metrics by their names."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TypeAlias

from labeltree.metrics.cut_off import CutOffMetric
from labeltree.metrics.linear_fractional import ThresholdMetric

Metric: TypeAlias = ThresholdMetric | CutOffMetric

#: scikit-learn's order of words, as in ``f1_micro``.
_AVERAGE_LAST = re.compile(r"^(.*)_(micro|macro)$")


def get_metric(name: str | Metric) -> Metric:
    """Return the metric with this name. A metric object is returned unchanged.

    Parameters
    ----------
    name : str
        ``hamming``; ``micro_f1``, ``macro_f1`` and so on with any beta, as ``micro_f0.5``; ``micro_jaccard``,
        ``macro_jaccard``; ``micro_am``, ``macro_am``; or ``precision@5``, ``recall@5``, ``ndcg@5``, ``psprecision@5``,
        ``psndcg@5`` with any cut-off. Case does not matter, ``f1_micro`` is ``micro_f1`` as in scikit-learn, and P, R
        and PSP are short for the longer words. A subclass of `ThresholdMetric` adds its own names.

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
    word = _AVERAGE_LAST.sub(r"\2_\1", name.lower()) if isinstance(name, str) else ""
    for kind in kinds:
        if (metric := kind.from_name(word)) is not None:
            return metric
    names = [known for kind in kinds for known in kind.names]
    close = get_close_matches(word, names, 1)
    raise ValueError(
        f"metric must be a name such as {', '.join(names)} (with any beta or cut-off), or an object of "
        f"labeltree.metrics, got {name!r}{f': did you mean {close[0]!r}?' if close else ''}"
    )

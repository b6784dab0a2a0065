"""Metrics at a cut-off k as objects: the best decision for them is to predict k labels of every row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from labeltree.metrics.propensity import InversePropensity
from labeltree.metrics.ranking import (
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psprecision_at_k,
    recall_at_k,
)
from labeltree.metrics.reading import Labels
from labeltree.validation import check_count

KINDS: dict[str, Callable[..., float]] = {
    "precision": precision_at_k,
    "recall": recall_at_k,
    "ndcg": ndcg_at_k,
    "psprecision": psprecision_at_k,
    "psndcg": psndcg_at_k,
}

#: The short names in tables of results.
_SHORT = {"p": "precision", "r": "recall", "psp": "psprecision"}


@dataclass(frozen=True)
class CutOffMetric:
    """A metric of the first k ranks.

    Precision and the gains in nDCG are largest if labels are ranked by their probability. Recall and nDCG are divided
    by the number of labels of a row, so they are largest then only if labels are independent of each other. The
    propensity-scored metrics are largest if labels are ranked by weight times probability.

    Parameters
    ----------
    kind : {"precision", "recall", "ndcg", "psprecision", "psndcg"}
    k : int
    inverse_propensity : array or mapping, optional
        The weights of the labels, for the propensity-scored kinds: as for `psprecision_at_k`.

    Examples
    --------
    >>> from labeltree.metrics import CutOffMetric
    >>> metric = CutOffMetric("precision", 2)
    >>> metric.name, metric([["cat"], ["cat", "dog"]], [["cat", "emu"], ["dog", "cat"]])
    ('precision@2', 0.75)
    """

    #: Examples of the names that `get_metric` takes.
    names: ClassVar[tuple[str, ...]] = tuple(f"{kind}@5" for kind in KINDS)
    kind: str
    k: int
    inverse_propensity: InversePropensity | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {self.kind!r}")
        check_count("k", self.k)
        if self.inverse_propensity is not None and not self.is_weighted:
            raise ValueError(f"{self.name} does not use inverse_propensity: leave it out")

    @property
    def name(self) -> str:
        """The name that `get_metric` takes."""
        return f"{self.kind}@{self.k}"

    @classmethod
    def from_name(cls, name: str) -> CutOffMetric | None:
        """Return the metric with a name in lower case, None if it is not a name of this class."""
        kind, _, k = name.partition("@")
        kind = _SHORT.get(kind, kind)
        known = kind in KINDS and re.fullmatch(r"[1-9][0-9]{0,8}", k, re.ASCII)
        return cls(kind, int(k)) if known else None

    @property
    def is_weighted(self) -> bool:
        """Whether the metric weights labels by their propensity."""
        return self.kind.startswith("ps")

    def __call__(self, y_true: Labels, y_pred: Labels) -> float:
        """Return the metric of a ranking, in any form that `precision_at_k` takes."""
        if self.is_weighted and self.inverse_propensity is None:
            raise ValueError(f"{self.name} needs the weights of the labels: pass inverse_propensity")
        weights = {"inverse_propensity": self.inverse_propensity} if self.is_weighted else {}
        return KINDS[self.kind](y_true, y_pred, self.k, **weights)

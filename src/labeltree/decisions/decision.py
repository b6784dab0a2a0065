"""`Decision`: the labels that `predict` returns, chosen to maximise a metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.exact_search import search
from labeltree.decisions.fixed import fixed_threshold
from labeltree.decisions.online_f_measure import OFO, optimise
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import find_labels
from labeltree.metrics.cut_off import CutOffMetric
from labeltree.metrics.label_sets import LabelSets, row_numbers
from labeltree.metrics.linear_fractional import ThresholdMetric
from labeltree.metrics.names import Metric
from labeltree.validation import Choice, Constraint, Number, check_arguments

METHODS = ("auto", "fixed", "exact", "ofo")


@dataclass(frozen=True, eq=False)
class Decision:
    """The labels that `predict` returns: those whose probability reaches a threshold, or the k best.

    Attributes
    ----------
    metric : str
        The metric that the decision maximises.
    method : {"fixed", "exact", "ofo"}
        How the thresholds were found.
    threshold : float, array of shape (n_labels,) or None
        One threshold for all labels, or one for each in the order of `classes_`.
    k : int or None
        The number of labels for every row, if there is no threshold.
    value : float or None
        The value of the metric on the validation rows, if thresholds were tuned.
    """

    metric: str
    method: str
    threshold: float | NDArray[np.float32] | None = None
    k: int | None = None
    value: float | None = None

    @property
    def label_weight(self) -> str | None:
        """The weights of labels in the ranking: "propensity" for propensity-scored metrics, else None."""
        return "propensity" if self.k is not None and self.metric.startswith("ps") else None

    @property
    def is_per_label(self) -> bool:
        """Whether every label has its own threshold."""
        return isinstance(self.threshold, np.ndarray)

    def bounds(self) -> tuple[float, NDArray[np.float32] | None]:
        """Return the common threshold and the thresholds of labels, for a `Search`."""
        if isinstance(self.threshold, np.ndarray):
            return 0.0, self.threshold
        assert self.threshold is not None
        return self.threshold, None

    def for_labels(self, before: NDArray[Any], now: NDArray[Any]) -> Decision:
        """Return the decision for another list of labels; new labels get the median of all thresholds."""
        if not isinstance(self.threshold, np.ndarray):
            return self
        at = LabelIndex(before).find(now.tolist())
        known = np.append(self.threshold, np.median(self.threshold)).astype(np.float32)
        return replace(self, threshold=known[at])

    def summary(self) -> dict[str, Any]:
        """Return the attributes as JSON values, without the thresholds of single labels."""
        threshold = "per_label" if self.is_per_label else self.threshold
        shown = {"metric": self.metric, "method": self.method, "threshold": threshold}
        return {**shown, "k": self.k, "value": self.value}

    def describe(self) -> str:
        """Return a short description."""
        if self.label_weight is not None:
            return f"the best {self.k} by probability times inverse propensity"
        if self.k is not None:
            return f"the {self.k} most probable labels" if self.k > 1 else "the most probable label"
        if isinstance(self.threshold, np.ndarray):
            low, middle, high = np.quantile(self.threshold, [0, 0.5, 1])
            return f"a threshold for each label, from {low:.3g} to {high:.3g}, the median {middle:.3g}"
        return f"threshold {self.threshold:.3g}"


#: The default decision; it is the best for the Hamming loss.
HALF = Decision("hamming", "fixed", threshold=0.5)


@dataclass(frozen=True)
class Tuning:
    """How to find thresholds: the method, and the probability below which labels are ignored."""

    method: str | OFO = "auto"
    floor: float = 0.01

    def __post_init__(self) -> None:
        check_arguments("decide_for", vars(self), _CONSTRAINTS)

    def method_for(self, metric: Metric) -> str:
        """Return the method for a metric, resolving "auto"."""
        if isinstance(self.method, OFO):
            return "ofo"
        is_fixed = isinstance(metric, CutOffMetric) or metric.has_fixed_threshold
        return self.method if self.method != "auto" else "fixed" if is_fixed else "exact"


_CONSTRAINTS: dict[str, Constraint] = {"method": Choice(METHODS, (OFO,)), "floor": Number(0, 1)}


def decide(
    metric: Metric,
    tuning: Tuning,
    label_counts: NDArray[np.int64],
    n_rows: int,
    pairs: Callable[[], ValidationPairs],
) -> Decision:
    """Return the best decision for a metric.

    `label_counts` has the number of the `n_rows` training rows with each label. `pairs` returns the validation pairs;
    it is called only if thresholds need tuning.
    """
    method = tuning.method_for(metric)
    if isinstance(metric, CutOffMetric):
        return _decide_at_k(metric, method)
    if method == "fixed":
        # A label without rows counts as if it had one: with the threshold 0 every row would get it.
        counts = np.maximum(label_counts, int(metric.average == "macro"))
        prior = np.minimum(counts / max(n_rows, 1), 1)
        return Decision(metric.name, method, _as_scalar(fixed_threshold(metric, prior)))
    scored = pairs()
    if method == "exact":
        threshold = search(metric, scored)
    else:
        threshold = optimise(metric, scored, tuning.method if isinstance(tuning.method, OFO) else OFO())
    return Decision(metric.name, method, _as_scalar(threshold), value=_value(metric, scored, threshold))


def _decide_at_k(metric: CutOffMetric, method: str) -> Decision:
    if metric.is_weighted and metric.inverse_propensity is not None:
        raise ValueError(
            f"a decision for {metric.name} ranks by the propensities of the model's own training rows: leave "
            "inverse_propensity out, or rank by weights of your own with predict_topk(X, k, label_weight=...)"
        )
    if method != "fixed":
        raise ValueError(f"{metric.name} has no threshold to tune: leave method at 'auto', got {method!r}")
    return Decision(metric.name, method, k=int(metric.k))


def _as_scalar(threshold: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
    # A threshold above 1 predicts nothing. A common threshold is limited to 1, which predicts certain labels only.
    return threshold if isinstance(threshold, np.ndarray) else min(float(threshold), 1.0)


def _value(metric: ThresholdMetric, pairs: ValidationPairs, threshold: float | NDArray[np.float32]) -> float:
    outcomes = pairs.outcomes(threshold)
    if metric.average == "macro":
        return metric.value_of(outcomes, pairs.n_rows)
    n_missed = outcomes.only_true.sum() + pairs.n_unknown
    n_pairs = pairs.n_rows * pairs.n_labels
    return float(metric.value(outcomes.only_pred.sum(), n_missed, pairs.n_positives, n_pairs))


def read_truth(y: Any, index: LabelIndex) -> tuple[LabelSets, int]:
    """Return the true labels of validation rows, and the number of labels that the model does not know."""
    indptr, labels = find_labels(y, index)
    known = labels >= 0
    if not known.any():
        raise ValueError(
            "y_valid has no label in any row: there is nothing to tune thresholds by"
            if len(labels) == 0
            else "y_valid has none of the labels of this model: classes_ has them all"
        )
    rows = row_numbers(np.diff(indptr))[known]
    truth = LabelSets.from_pairs(rows, labels[known].astype(np.int64), len(indptr) - 1, len(index))
    return truth, int((~known).sum())

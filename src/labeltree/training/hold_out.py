"""Training for a metric: on rows of which some are set aside to decide by, then on all."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from labeltree.decision_maker import DecisionMaker
from labeltree.decisions import OFO
from labeltree.decisions.decision import Tuning
from labeltree.labels.reading import LabelRows, read_labels
from labeltree.metrics.names import Metric, get_metric
from labeltree.validation import Number, check_arguments, is_pair

_Estimator = TypeVar("_Estimator", bound="HoldOutLearner")


class HoldOutLearner(DecisionMaker):
    """Training and deciding in one, for an estimator that has `fit`."""

    random_state: Any

    def fit_for(
        self: _Estimator,
        metric: str | Metric,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        holdout: float = 0.3,
        method: str | OFO = "auto",
        floor: float = 0.01,
    ) -> _Estimator:
        """Train on all examples, and decide for a metric by a model that was trained on some of them.

        Some of the rows, drawn at random, are set aside; a model is trained on the others and `decide_for` finds
        thresholds on those that were set aside. Then all rows are trained on, and the thresholds kept. Where no
        thresholds need tuning, no rows are set aside.

        Parameters
        ----------
        metric : str or object of `labeltree.metrics`
            As for `decide_for`.
        X, y, sample_weight
            As for `fit`.
        holdout : float
            The share of the rows that is set aside.
        method, floor
            As for `decide_for`.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 20, [["cat", "pet"], ["dog"]] * 20
        >>> model = LabelTreeClassifier(random_state=0).fit_for("micro_f1", X, y)
        >>> model.predict([[0.9, 0.1]]), model.decision_.metric
        ([['cat', 'pet']], 'micro_f1')
        """
        estimator: Any = self  # which has more than is declared here
        estimator._check_training_parameters()
        check_arguments("fit_for", {"holdout": holdout}, {"holdout": Number(0, 1)})
        tuning, chosen, labels = Tuning(method, floor), get_metric(metric), read_labels(y)
        if tuning.method_for(chosen) == "fixed":
            decided: _Estimator = estimator.fit(X, labels, sample_weight).decide_for(chosen, method=method)
            return decided
        trained, aside = set_aside(X, labels, sample_weight, holdout, self.random_state)
        first: Any = self._for_some_rows()
        first.fit(*trained).decide_for(chosen, aside.X, aside.y, method=method, floor=floor)
        estimator.fit(X, labels, sample_weight)
        self.decision_ = first.decision_
        return self

    def _for_some_rows(self: _Estimator) -> _Estimator:
        """An untrained copy, for the rows that are not set aside."""
        copied: _Estimator = clone(self)
        return copied


class Rows(NamedTuple):
    """Some of the examples, with all the classes."""

    X: Any
    y: LabelRows
    sample_weight: Any


def set_aside(
    X: Any, labels: LabelRows, sample_weight: Any, share: float, random_state: Any
) -> tuple[Rows, Rows]:
    """Split examples at random: those to train on, and this share of them to decide by."""
    n_rows = labels.n_rows
    n_aside = round(share * n_rows)
    if not 0 < n_aside < n_rows:
        raise ValueError(
            f"holdout={share} of {n_rows} rows leaves none to train on or none to decide by: pass more rows, or "
            "another share"
        )
    shuffled = check_random_state(random_state).permutation(n_rows)
    # In their order, so that what is trained does not depend on how rows are drawn more than it must.
    parts = np.sort(shuffled[n_aside:]), np.sort(shuffled[:n_aside])
    trained, aside = (_take(X, labels, sample_weight, part) for part in parts)
    return trained, aside


def _take(X: Any, labels: LabelRows, sample_weight: Any, rows: NDArray[np.int64]) -> Rows:
    weight = sample_weight
    if weight is not None and np.ndim(weight) > 0:
        weight = np.asarray(weight)[rows]
    taken = tuple(_safe_indexing(part, rows) for part in X) if is_pair(X) else _safe_indexing(X, rows)
    return Rows(taken, _labels_of(labels, rows), weight)


def _labels_of(labels: LabelRows, rows: NDArray[np.int64]) -> LabelRows:
    sizes = np.diff(labels.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], sizes)
    indices = labels.indices[np.repeat(labels.indptr[rows], sizes) + within]
    return LabelRows(indptr, indices, labels.classes, labels.kind)

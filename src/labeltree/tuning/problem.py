"""The data of all trials: rows to learn from, and rows to be asked about."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from labeltree.classifier import LabelTreeClassifier
from labeltree.labels.reading import LabelRows, read_label_lists, read_labels
from labeltree.tuning.halving import Rung
from labeltree.tuning.ranking_metric import RankingMetric
from labeltree.tuning.trial import Trial
from labeltree.validation import is_pair

#: Rows that are held out if none are given: this share, and no more than so many.
_HELD_OUT_SHARE = 0.2
_MOST_HELD_OUT = 10_000
_FEWEST_ROWS = 10

#: Rows are timed in small batches, the best of some runs of each: other programs only ever make it longer.
_TIMED_ROWS = 500
_TIMED_BATCH = 50
_TIMED_RUNS = 5


@dataclass(frozen=True)
class Problem:
    """Rows with labels as 0/1 matrices. A sample has the first of `order`, so that smaller ones are parts of larger."""

    X: Any
    y: Any
    X_valid: Any
    y_valid: Any
    order: NDArray[np.int64]
    metric: RankingMetric

    @classmethod
    def read(
        cls, X: Any, y: Any, X_valid: Any, y_valid: Any, metric: str, random: np.random.RandomState
    ) -> Problem:
        """Check the data, and hold rows out if there are none to validate with."""
        measure = RankingMetric.parse(metric)
        if (X_valid is None) != (y_valid is None):
            raise ValueError("X_valid and y_valid must be given both, or neither to hold rows out")
        if X_valid is not None:
            labels, valid_labels = _read_both(y, y_valid)
            _check_lengths("X_valid and y_valid", X_valid, valid_labels)
            _check_lengths("X and y", X, labels)
            if valid_labels.shape[0] == 0:
                raise ValueError("X_valid must have at least one row, got none")
            order = random.permutation(labels.shape[0])
            return cls(X, labels, X_valid, valid_labels, order, measure)
        labels = _matrix(read_labels(y))
        _check_lengths("X and y", X, labels)
        n_rows = labels.shape[0]
        if n_rows < _FEWEST_ROWS:
            raise ValueError(f"expected at least {_FEWEST_ROWS} rows to hold some of them out, got {n_rows}")
        order = random.permutation(n_rows)
        n_held_out = min(int(n_rows * _HELD_OUT_SHARE), _MOST_HELD_OUT)
        held_out = np.sort(order[:n_held_out])
        return cls(X, labels, _rows(X, held_out), labels[held_out], order[n_held_out:], measure)

    @property
    def n_rows(self) -> int:
        """How many rows there are to learn from."""
        return len(self.order)

    @property
    def n_valid_rows(self) -> int:
        return int(self.y_valid.shape[0])

    def trials(
        self, estimator: LabelTreeClassifier, parameters: dict[str, Any], rung: Rung
    ) -> Iterator[Trial]:
        """Train models of ever more trees and measure each; the parameters of `estimator` hold for the rest."""
        rows = np.sort(self.order[: rung.n_rows])
        X, y = _rows(self.X, rows), self.y[rows]
        # Labels that the sample does not have would make the tree larger, and nothing else.
        columns = np.unique(y.indices)
        y = y[:, columns]
        model = copy(estimator).set_params(**parameters, n_trees=rung.n_trees[0])
        with _quiet():
            model.fit(X, y)
        yield self._measure(model, columns, parameters, len(rows))
        for before, n_trees in pairwise(rung.n_trees):
            with _quiet():
                model.add_trees(X, y, n_trees - before)
            yield self._measure(model, columns, parameters, len(rows))

    def _measure(
        self, model: LabelTreeClassifier, columns: NDArray[np.int64], parameters: dict[str, Any], n_rows: int
    ) -> Trial:
        found, _ = model.predict_topk(self.X_valid, self.metric.k)
        ranking = np.full((self.n_valid_rows, self.metric.k), -1)
        ranking[:, : found.shape[1]] = np.where(found >= 0, columns[found], -1)
        counts = np.bincount(self.y.indices, minlength=self.y.shape[1])
        score, part_scores = self.metric.scores(self.y_valid, ranking, counts, self.y.shape[0])
        return Trial(
            parameters={**parameters, "n_trees": len(model.weights_)},
            n_rows=n_rows,
            score=score,
            ms_per_row=self._ms_per_row(model),
            model_bytes=sum(weights.nbytes for weights in model.weights_),
            seconds=sum(model.fit_seconds_.values()),
            part_scores=part_scores,
        )

    def _ms_per_row(self, model: LabelTreeClassifier) -> float:
        alone = copy(model).set_params(n_jobs=1)
        n_rows = min(self.n_valid_rows, _TIMED_ROWS)
        batches = [
            _rows(self.X_valid, np.arange(begin, min(begin + _TIMED_BATCH, n_rows)))
            for begin in range(0, n_rows, _TIMED_BATCH)
        ]
        best = np.full(len(batches), np.inf)
        for _ in range(_TIMED_RUNS):
            for i, batch in enumerate(batches):
                started = time.perf_counter()
                alone.predict_topk(batch, self.metric.k)
                best[i] = min(best[i], time.perf_counter() - started)
        return 1000 * float(best.sum()) / n_rows


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings: a model with nothing left in it, say, is just a bad one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _read_both(y: Any, y_valid: Any) -> tuple[Any, Any]:
    """Labels to learn and labels to validate with, in the same columns."""
    rows = read_labels(y)
    if rows.kind == "lists":  # where rows that are held out may well have labels that no other has
        both = _matrix(read_label_lists([*y, *y_valid]))
        return both[: rows.n_rows], both[rows.n_rows :]
    valid = read_labels(y_valid)
    if valid.kind != rows.kind or not np.array_equal(valid.classes, rows.classes):
        raise ValueError(
            f"y and y_valid must have the same labels in the same form, got {rows.n_labels} labels ({rows.kind}) "
            f"and {valid.n_labels} ({valid.kind}); give both as matrices of as many columns, or as lists of labels"
        )
    return _matrix(rows), _matrix(valid)


def _matrix(rows: LabelRows) -> Any:
    ones = np.ones(len(rows.indices), dtype=np.float32)
    return sp.csr_matrix((ones, rows.indices, rows.indptr), shape=(rows.n_rows, rows.n_labels))


def _check_lengths(names: str, X: Any, labels: Any) -> None:
    n_rows = _num_samples(X[0] if is_pair(X) else X)
    if n_rows != labels.shape[0]:
        raise ValueError(f"{names} must have the same number of rows, got {n_rows} and {labels.shape[0]}")


def _rows(X: Any, rows: NDArray[np.int64]) -> Any:
    if is_pair(X):
        return tuple(_safe_indexing(part, rows) for part in X)
    return _safe_indexing(X, rows)

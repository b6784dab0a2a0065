"""The data of all trials: rows to train on, and rows to validate with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from labeltree.classifier import LabelTreeClassifier
from labeltree.labels.reading import (
    LabelRows,
    as_class_array,
    label_order,
    read_label_lists,
    read_labels,
    read_labels_of,
)
from labeltree.text.vectorizer import TextVectorizer
from labeltree.timing import shortest_seconds
from labeltree.tuning.halving import Rung
from labeltree.tuning.ranking_metric import RankingMetric
from labeltree.tuning.result import Trial
from labeltree.tuning.samples import NumberSamples, Sample, TextSamples, features_of
from labeltree.tuning.space import TEXT_SEARCHED
from labeltree.validation import is_pair, take_rows
from labeltree.wording import count_text

#: Rows that are held out if no validation rows are given: this share, up to this number.
_HELD_OUT_SHARE = 0.2
_MOST_HELD_OUT = 10_000
_FEWEST_ROWS = 10

#: Prediction is timed in small batches, several times each.
_TIMED_ROWS = 500
_TIMED_BATCH = 50
_TIMED_RUNS = 5


@dataclass(frozen=True)
class Problem:
    """Samples of rows, and the labels of all rows as 0/1 matrices.

    `order` has the rows to train on, shuffled. A sample is the beginning of it, so that it contains smaller samples.
    """

    samples: NumberSamples | TextSamples
    y: Any
    y_valid: Any
    order: NDArray[np.int64]
    metric: RankingMetric

    @classmethod
    def read(
        cls,
        X: Any,
        y: Any,
        X_valid: Any,
        y_valid: Any,
        metric: str,
        random: np.random.RandomState,
        vectorizer: TextVectorizer | None = None,
    ) -> Problem:
        """Check the data, and hold rows out if there are no validation rows. With a vectorizer, X is texts."""
        if (X_valid is None) != (y_valid is None):
            raise ValueError("X_valid and y_valid must be given both, or neither to hold rows out")
        if X_valid is None:
            y = read_labels(y).matrix()
        else:
            y, y_valid = _read_both(y, y_valid)
            _check_lengths("X_valid and y_valid", X_valid, y_valid)
            if y_valid.shape[0] == 0:
                raise ValueError("X_valid must have at least one row, got none")
        _check_lengths("X and y", X, y)
        n_rows = y.shape[0]
        order = random.permutation(n_rows)
        if X_valid is None:
            if n_rows < _FEWEST_ROWS:
                raise ValueError(
                    f"expected at least {_FEWEST_ROWS} rows to hold some of them out, got {n_rows}"
                )
            n_held_out = min(int(n_rows * _HELD_OUT_SHARE), _MOST_HELD_OUT)
            held_out, order = np.sort(order[:n_held_out]), order[n_held_out:]
            X_valid, y_valid = take_rows(X, held_out), y[held_out]
        samples = NumberSamples(X, X_valid) if vectorizer is None else TextSamples(X, X_valid, vectorizer)
        return cls(samples, y, y_valid, order, RankingMetric.parse(metric))

    @property
    def n_valid_rows(self) -> int:
        return int(self.y_valid.shape[0])

    def trials(
        self, estimator: LabelTreeClassifier, parameters: dict[str, Any], rung: Rung
    ) -> Iterator[Trial]:
        """Train and measure a model for each number of trees; other parameters are those of `estimator`."""
        rows = np.sort(self.order[: rung.n_rows])
        text_parameters = {name: parameters[name] for name in TEXT_SEARCHED if name in parameters}
        sample, y = self.samples.sample(rows, text_parameters), self.y[rows]
        # Labels that the sample does not have would only make the tree larger.
        columns = np.unique(y.indices)
        y = y[:, columns]
        own = {name: value for name, value in parameters.items() if name not in text_parameters}
        model = copy(estimator).set_params(**own, n_trees=rung.n_trees[0])
        for n_before, n_trees in pairwise((0, *rung.n_trees)):
            with warnings.catch_warnings():
                # A model without weights, say, is only a bad one.
                warnings.simplefilter("ignore", UserWarning)
                if n_before == 0:
                    model.fit(sample.X, y)
                else:
                    model.add_trees(sample.X, y, n_trees - n_before)
            yield self._measure(model, sample, columns, parameters)

    def _measure(
        self,
        model: LabelTreeClassifier,
        sample: Sample,
        columns: NDArray[np.int64],
        parameters: dict[str, Any],
    ) -> Trial:
        found, _ = model.predict_topk(sample.X_valid, self.metric.k)
        ranking = np.full((self.n_valid_rows, self.metric.k), -1)
        ranking[:, : found.shape[1]] = np.where(found >= 0, columns[found], -1)
        counts = np.bincount(self.y.indices, minlength=self.y.shape[1])
        score, part_scores = self.metric.scores(self.y_valid, ranking, counts, self.y.shape[0])
        return Trial(
            parameters={**parameters, "n_trees": len(model.weights_)},
            n_rows=sample.X[0].shape[0] if is_pair(sample.X) else _num_samples(sample.X),
            score=score,
            ms_per_row=self._ms_per_row(model, sample.vectorizer),
            model_bytes=sum(weights.nbytes for weights in model.weights_)
            + _vocabulary_bytes(sample.vectorizer),
            seconds=sum(model.fit_seconds_.values()),
            part_scores=part_scores,
        )

    def _ms_per_row(self, model: LabelTreeClassifier, vectorizer: TextVectorizer | None) -> float:
        """Return the time of a row from its numbers, or its text, to its labels."""
        alone = copy(model).set_params(n_jobs=1)
        rows = np.arange(min(self.n_valid_rows, _TIMED_ROWS))
        batches = [
            take_rows(self.samples.X_valid, rows[begin : begin + _TIMED_BATCH])
            for begin in range(0, len(rows), _TIMED_BATCH)
        ]

        def answer(batch: Any) -> None:
            alone.predict_topk(features_of(batch, vectorizer), self.metric.k)

        seconds = shortest_seconds(answer, batches, _TIMED_RUNS)
        return 1000 * float(seconds.sum()) / len(rows)


def _read_both(y: Any, y_valid: Any) -> tuple[Any, Any]:
    """Return the labels of training and validation rows, in the same columns."""
    rows = read_labels(y)
    if rows.kind == "lists" and isinstance(y, LabelRows):
        return _with_all_labels(rows, read_labels(y_valid))
    if rows.kind == "lists":  # validation rows may have labels that no training row has
        both = read_label_lists([*y, *y_valid]).matrix()
        return both[: rows.n_rows], both[rows.n_rows :]
    valid = read_labels(y_valid)
    if valid.kind != rows.kind or not np.array_equal(valid.classes, rows.classes):
        raise ValueError(
            "y and y_valid must have the same labels in the same form, got "
            f"{count_text(rows.n_labels, 'label')} ({rows.kind}) "
            f"and {valid.n_labels} ({valid.kind}); pass matrices with the same columns, or lists of labels"
        )
    return rows.matrix(), valid.matrix()


def _with_all_labels(rows: LabelRows, valid: LabelRows) -> tuple[Any, Any]:
    """Return the labels of the rows of a store and of validation rows, in columns for the labels of both."""
    classes = as_class_array(label_order({*rows.classes.tolist(), *valid.classes.tolist()}))
    both = [read_labels_of(one, classes, "lists").matrix() for one in (rows, valid)]
    return both[0], both[1]


def _vocabulary_bytes(vectorizer: TextVectorizer | None) -> int:
    return 0 if vectorizer is None else sum(array.nbytes for array in vectorizer.state()[1].values())


def _check_lengths(names: str, X: Any, y: Any) -> None:
    n_rows = _num_samples(X[0] if is_pair(X) else X)
    if n_rows != y.shape[0]:
        raise ValueError(f"{names} must have the same number of rows, got {n_rows} and {y.shape[0]}")

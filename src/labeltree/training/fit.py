"""`fit`: trains a model on X and y by the plan of an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import read_labels
from labeltree.mapped_rows import MappedRows, labels_given
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.model import Model, TrainingRecord
from labeltree.progress import Phases, phases
from labeltree.training.examples import Examples
from labeltree.training.plan import Plan
from labeltree.training.run import Run
from labeltree.training.workplace import Workplace
from labeltree.validation import check_sample_weight, n_threads


class Planned(Protocol):
    """An estimator that makes a plan for its training."""

    normalize: bool
    n_jobs: int | None
    verbose: int
    _model: Any

    def check_parameters(self, training: bool = True) -> None: ...

    def make_plan(self) -> Plan: ...

    def open_workplace(self, examples: Examples, shown: Phases) -> AbstractContextManager[Workplace]: ...

    def kept_parameters(self) -> Mapping[str, Any]: ...


_Planned = TypeVar("_Planned", bound=Planned)


def fit(self: _Planned, X: Any, y: Any = None, sample_weight: Any = None) -> _Planned:
    """Train on the examples X with labels y.

    Parameters
    ----------
    X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair of a sparse matrix and an array
        The rows. A pair has the features of both parts, the sparse ones first. A `labeltree.data.Store` is read where
        it is, on disk.
    y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
        The labels of each row. Rows may have no label. With a store, the labels of the store by default.
    sample_weight : array of shape (n_rows,), optional
        Factor of the loss of each example, 1 by default.
    """
    self.check_parameters()
    reader, features = FeatureReader.learn(type(self).__name__, X, self.normalize)
    labels = read_labels(labels_given(X, y))
    weight = check_sample_weight(sample_weight, labels.n_rows)
    examples = Examples(features, labels, weight, reader=reader, X=X)
    examples.check()
    plan = self.make_plan()
    with phases(self.verbose) as shown, self.open_workplace(examples, shown) as place:
        trained = plan.train(examples, Run(n_threads(self.n_jobs), shown, workplace=place))
    # Assigned last: if fit fails, an earlier model stays as it was.
    self._model = Model(
        trained.forest,
        trained.reader or reader,
        LabelIndex(labels.classes),
        labels.kind,
        labels.counts,
        labels.n_rows,
        TrainingRecord(trained.reports, self.kept_parameters(), trained.seconds, trained.facts),
        vectorizer=X.vectorizer if isinstance(X, MappedRows) else None,
        label_names=X.label_names if isinstance(X, MappedRows) else None,
    )
    for message in trained.warnings:
        warnings.warn(message, UserWarning, stacklevel=2)
    return self

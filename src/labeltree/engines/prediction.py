"""Predictions for many rows, in batches that an engine spreads over its workers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from labeltree import sparse as sp
from labeltree.engines.context import current_engine
from labeltree.engines.opened_models import opened_model
from labeltree.engines.protocol import Place
from labeltree.engines.shared_rows import SharedRows, opened_rows, share_rows
from labeltree.engines.task import Task
from labeltree.model.top_labels import TopLabels
from labeltree.validation import check_count, is_pair, take_rows

#: Batches for each worker, so that all end at about the same time, and the fewest and most rows of a batch.
_BATCHES_PER_WORKER = 4
_FEWEST_ROWS, _MOST_ROWS = 500, 10_000


def predict_topk(
    model: str | os.PathLike[str], X: Any, k: int = 5, *, batch_size: int | None = None, **options: Any
) -> TopLabels:
    """Return the k best labels of every row, found by the workers of the current engine.

    Every worker maps the model, so the workers of a machine share its memory.

    Parameters
    ----------
    model : path
        A saved model.
    X
        Rows, in any form that the model takes.
    k : int
        Number of labels for each row.
    batch_size : int, optional
        Number of rows for each task; by default 500 to 10,000. Rows travel with their task, unless X is a store.
    **options
        Other parameters of the model's `predict_topk`.

    Examples
    --------
    >>> import tempfile
    >>> import labeltree
    >>> from labeltree.engines import predict_topk
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 600, [["cat"], ["dog"]] * 600
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     labeltree.LabelTreeClassifier(random_state=0).fit(X, y).save(f"{folder}/pets")
    ...     with labeltree.engine("pool", n_workers=2):
    ...         found = predict_topk(f"{folder}/pets", X, k=1)
    >>> found.labels.shape, found.labels[:3].tolist()
    ((1200, 1), [['cat'], ['dog'], ['cat']])
    """
    if options.get("return_evaluations"):
        raise ValueError(
            "predict_topk of engines returns labels and probabilities: leave return_evaluations out"
        )
    answers = SavedModel(model).ask(partial(_topk, k=k, **options), X, batch_size)
    return TopLabels(*(np.concatenate(parts) for parts in zip(*answers, strict=True)))


def predict(model: str | os.PathLike[str], X: Any, *, batch_size: int | None = None, **options: Any) -> Any:
    """Return the labels of every row, in the form of the y of the training; parameters as for `predict_topk`."""
    answers = SavedModel(model).ask(partial(_predict, **options), X, batch_size)
    if isinstance(answers[0], list):
        return [row for answer in answers for row in answer]
    return sp.vstack(answers, format="csr") if sp.issparse(answers[0]) else np.concatenate(answers)


class SavedModel:
    """A saved model that the workers of the current engine map, and ask about batches of rows.

    Parameters
    ----------
    path : path
        The directory of the model.
    settings : mapping, optional
        Parameters to set on the model, such as ``{"search": "beam"}``.
    """

    def __init__(self, path: str | os.PathLike[str], settings: Mapping[str, Any] | None = None) -> None:
        self._engine = current_engine()
        self._place = self._engine.publish(Path(path))
        self._settings = dict(settings or {})

    def ask(self, question: Callable[[Any, Any], Any], X: Any, batch_size: int | None = None) -> list[Any]:
        """Return what ``question(model, rows)`` returns for each batch of rows, in the order of rows."""
        if batch_size is not None:
            check_count("batch_size", batch_size, " or None")
        from sklearn.utils.validation import _num_samples

        engine, n_rows = self._engine, _num_samples(X[0] if is_pair(X) else X)
        share = math.ceil(n_rows / (_BATCHES_PER_WORKER * engine.n_workers))
        size = batch_size or min(max(share, _FEWEST_ROWS), _MOST_ROWS)
        settings = {**self._settings, "n_jobs": engine.n_threads}
        X = share_rows(X, engine)
        tasks = [
            Task(
                f"predicting rows {begin:,} to {min(begin + size, n_rows):,}",
                _answer,
                (self._place, settings, question, Rows(X, begin, min(begin + size, n_rows))),
                cost=min(size, n_rows - begin),
                n_threads=engine.n_threads,
            )
            for begin in range(0, max(n_rows, 1), size)
        ]
        answers = dict(engine.run(tasks))
        return [answers[number] for number in range(len(tasks))]


class Rows:
    """Some rows of X. They are taken out of X when they are needed or sent, so they are not all in memory twice."""

    def __init__(self, X: Any, begin: int, end: int) -> None:
        self._X, self._begin, self._end = X, begin, end

    def take(self) -> Any:
        return opened_rows(self._part())

    def _part(self) -> Any:
        if isinstance(self._X, SharedRows):
            return self._X.between(self._begin, self._end)
        return take_rows(self._X, np.arange(self._begin, self._end))

    def __reduce__(self) -> Any:
        return Rows, (self._part(), 0, self._end - self._begin)


def _answer(
    place: Place, settings: Mapping[str, Any], question: Callable[[Any, Any], Any], rows: Rows
) -> Any:
    model = copy(opened_model(place.path()))
    for name, value in settings.items():
        setattr(model, name, value)
    return question(model, rows.take())


def _topk(model: Any, rows: Any, **options: Any) -> Any:
    return model.predict_topk(rows, **options)


def _predict(model: Any, rows: Any, **options: Any) -> Any:
    return model.predict(rows, **options)

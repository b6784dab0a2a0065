"""Training on streams that do not fit in memory: they are read once for each pass."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.embedding.plan import EmbeddingPlan
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import as_class_array, label_order, read_labels_of
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.model import Model, TrainingRecord
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.validation import check_count
from labeltree.wording import count_text, with_article

#: Rows of X, and the labels of each.
Batch: TypeAlias = tuple[Any, Any]
#: Returns all batches from the beginning, each time that it is called.
OpenBatches: TypeAlias = Callable[[], Iterable[Batch]]


class Rows(NamedTuple):
    """Some rows of a stream."""

    X: sp.csr_matrix
    y: list[tuple[Any, ...]]

    def take(self, rows: Any) -> Rows:
        return Rows(self.X[rows], [self.y[row] for row in rows])

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        n_features = max(part.X.shape[1] for part in parts)
        widened = [_widened(part.X, n_features) for part in parts]
        return cls(sp.vstack(widened, format="csr"), [labels for part in parts for labels in part.y])


def _widened(X: sp.csr_matrix, n_features: int) -> sp.csr_matrix:
    """Return a matrix with more columns, which are empty."""
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))


def _rows(batches: Iterable[Batch]) -> Iterator[Rows]:
    """Yield the rows of each batch that has some."""
    n_rows = 0
    for X, y in batches:
        if isinstance(y, np.ndarray) or sp.issparse(y):
            raise ValueError(f"expected a list of labels for each row, got an array of shape {y.shape} as y")
        matrix = sp.csr_matrix(X, dtype=np.float32)
        labels = [_labels(row, n_rows + i) for i, row in enumerate(y)]
        if matrix.shape[0] != len(labels):
            raise ValueError(
                f"expected as many labels as rows in each batch, got {matrix.shape[0]} rows and {len(labels)} lists of "
                f"labels after row {n_rows}"
            )
        n_rows += len(labels)
        if labels:
            yield Rows(matrix, labels)


def _labels(row: Any, number: int) -> tuple[Any, ...]:
    """Return the labels of a row; a string would be a collection of letters."""
    if isinstance(row, str | bytes | Mapping) or not isinstance(row, Collection):
        raise ValueError(f"y, row {number}: expected a list of labels (it may be empty), got {row!r}")
    return tuple(row)


def in_random_order(batches: Iterable[Batch], buffer_rows: int, seed: int) -> Iterator[Rows]:
    """Yield all rows in chunks, shuffled in a buffer.

    Whenever the buffer is full, a random half of it is yielded, so that a row may come much later than it was read.
    The chunks do not depend on the sizes of the batches.
    """
    random = np.random.default_rng(seed)
    held: list[Rows] = []
    n_held = 0
    for rows in _rows(batches):
        begin, n_rows = 0, len(rows.y)
        while begin < n_rows:
            end = min(begin + buffer_rows - n_held, n_rows)
            held.append(rows.take(range(begin, end)) if end - begin < n_rows else rows)
            n_held, begin = n_held + end - begin, end
            if n_held == buffer_rows:
                full, order, held = Rows.joined(held), random.permutation(n_held), []
                n_kept = n_held // 2
                chunk = full.take(order[n_kept:])
                held, n_held = [full.take(order[:n_kept])] if n_kept else [], n_kept
                del full
                yield chunk
    if held:
        yield Rows.joined(held)


class Survey:
    """What a first pass over a stream finds: its size, its labels, and a random sample of its rows.

    Parameters
    ----------
    buffer_rows : int
        The maximum number of rows in the sample.
    seed : int
    """

    def __init__(self, buffer_rows: int, seed: int) -> None:
        self._buffer_rows = buffer_rows
        self._random = np.random.default_rng(seed)
        # The sample has the rows with the smallest of random keys: it does not depend on the sizes of batches.
        self._held: list[Rows] = []
        self._keys: list[NDArray[np.float64]] = []
        self._limit = np.inf
        self.n_rows = 0
        self.n_features = 0
        self.has_empty = False
        self.counts: Counter[Any] = Counter()

    def add(self, rows: Rows) -> None:
        """Count rows, and keep some of them."""
        self.n_rows += len(rows.y)
        self.n_features = max(self.n_features, rows.X.shape[1])
        for labels in rows.y:
            self.has_empty |= not labels
            self.counts.update(set(labels))
        keys = self._random.random(len(rows.y))
        kept = np.flatnonzero(keys < self._limit)
        if len(kept):
            self._held.append(rows.take(kept))
            self._keys.append(keys[kept])
        if sum(map(len, self._keys)) > 2 * self._buffer_rows:
            self._drop_rows()

    def _drop_rows(self) -> None:
        """Drop all rows but those with the smallest keys."""
        rows, keys = Rows.joined(self._held), np.concatenate(self._keys)
        if len(keys) > self._buffer_rows:
            chosen = np.sort(np.argpartition(keys, self._buffer_rows - 1)[: self._buffer_rows])
            rows, keys = rows.take(chosen), keys[chosen]
            self._limit = keys.max()
        self._held, self._keys = [rows], [keys]

    def sample(self) -> Rows:
        """Return the sample, in the order of the stream."""
        self._drop_rows()
        return self._held[0]


def check_stream(open_batches: Any, buffer_rows: int) -> None:
    """Raise `ValueError` for arguments that no stream can be read with."""
    check_count("buffer_rows", buffer_rows)
    if not callable(open_batches):
        raise ValueError(
            "expected a function that returns batches (X, y) from the beginning each time it is called, because every "
            f"epoch reads them; got {with_article(type(open_batches).__name__)}"
        )


def fit_stream(
    estimator: Any,
    plan: EmbeddingPlan,
    run: Run,
    open_batches: OpenBatches,
    buffer_rows: int,
    n_features: int = 0,
) -> Model:
    """Return the model that a plan trains on a stream; `estimator` tells what it keeps.

    The model has at least `n_features` features.
    """
    started = time.perf_counter()
    survey = Survey(buffer_rows, plan.seed)
    survey.n_features = n_features

    def look(progress: _native.Progress) -> None:
        for rows in _rows(open_batches()):
            survey.add(rows)

    run.phase("reading labels", look)
    if survey.n_rows == 0 or not survey.counts:
        raise ValueError("the stream has no row with a label: there is nothing to learn")
    classes = as_class_array(label_order(survey.counts))
    reader = FeatureReader(type(estimator).__name__, bool(estimator.normalize), survey.n_features)

    def examples_of(rows: Rows) -> Examples:
        features = reader.read(_widened(rows.X, survey.n_features))
        return Examples(features, read_labels_of(rows.y, classes, "lists"), reader=reader)

    surveyed = time.perf_counter()
    start = plan.start_vectors(survey.n_features)
    tree = plan.grow_tree(examples_of(survey.sample()), run)
    built = time.perf_counter()
    trainer = plan.trainer(tree, survey.n_features, survey.n_rows, survey.has_empty, run.n_threads, start)

    def learn(progress: _native.Progress) -> None:
        for epoch in range(plan.epochs):
            n_rows = 0
            for rows in in_random_order(open_batches(), buffer_rows, plan.seed + epoch):
                trainer.learn(examples_of(rows).native, progress)
                n_rows += len(rows.y)
            if n_rows != survey.n_rows:
                raise ValueError(
                    f"the stream had {count_text(survey.n_rows, 'row')} at first, and {n_rows} in pass {epoch + 1}: it "
                    "must give the same rows each time"
                )

    run.phase(f"learning vectors of {count_text(survey.n_features, 'feature')}", learn)
    forest = plan.forest(trainer, tree, survey.has_empty)
    seconds = {
        "reading labels": surveyed - started,
        "clustering": built - surveyed,
        "training": time.perf_counter() - built,
    }
    return Model(
        forest,
        reader,
        LabelIndex(classes),
        "lists",
        np.array([survey.counts[label] for label in classes.tolist()], dtype=np.int64),
        survey.n_rows,
        TrainingRecord([{"n_passes": plan.epochs}], estimator.kept_parameters(), seconds),
    )

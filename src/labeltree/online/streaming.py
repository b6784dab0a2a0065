"""Learning from a stream so that nothing but the time since the last checkpoint can be lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, cast

from labeltree.data import read_stream
from labeltree.data.sources import Source
from labeltree.model.top_labels import TopLabels

Batches: TypeAlias = Iterable[tuple[Any, Any]]

#: Called with the labels of some examples and what was predicted before they were learned.
Watcher: TypeAlias = Callable[[Any, TopLabels], None]


class StreamLearner(Protocol):
    """What a model must have to learn from a stream.

    `n_examples_` says how many examples were learned, `stream_start_` how many of these before the present stream. A
    new model has neither; `save` writes them with all the rest.
    """

    stream_start_: int

    def partial_fit(self, X: Any, y: Any) -> Any: ...

    def predict_then_learn(self, X: Any, y: Any, k: int) -> TopLabels: ...

    def save(self, path: Any) -> None: ...


def learn(
    model: StreamLearner,
    stream: Source | Batches,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 100_000,
    new_stream: bool = False,
    watch: Watcher | None = None,
    watch_every: int | None = None,
    k: int = 5,
) -> int:
    """Learn the examples of a stream in their order, and return how many there were.

    Examples of this stream that the model has learned before are passed over. Given the same stream from its beginning,
    a model therefore goes on from its checkpoint, and ends the same, bit for bit, as if nothing had happened.

    Parameters
    ----------
    model : OnlineLabelTreeClassifier
        New, or loaded from a checkpoint.
    stream : str, path-like, binary file or iterable of (X, y)
        What :func:`labeltree.data.read_stream` reads, or batches of examples.
    checkpoint : path of a directory, optional
        Where the model is saved, atomically: after every `checkpoint_every` examples, at the end, and when the
        stream fails.
    checkpoint_every : int
        Counted from the first example that the model ever learned, whatever the batches are.
    new_stream : bool
        The stream goes on where the one before ended: all of its examples are new.
    watch : callable, optional
        Called with the labels of some examples, and with what was predicted for these before they were learned.
    watch_every : int, optional
        Call `watch` after every so many examples also where they are in the middle of a batch.
    k : int
        How many labels are predicted for `watch`.

    Raises
    ------
    ValueError
        When the stream ends before the examples that the model has learned of it.
    DataFormatError
        As :func:`labeltree.data.read_stream` does. The examples before the line at fault are learned and saved.
    """
    for name, every in (("checkpoint_every", checkpoint_every), ("watch_every", watch_every)):
        if every is not None and every < 1:
            raise ValueError(f"expected {name} of at least 1, got {every}")
    checkpoints = _Checkpoints(model, checkpoint, checkpoint_every)
    before = n_learned(model)
    if new_stream and before:
        model.stream_start_ = before
        # At once: whoever resumes from here must not take this stream for the one before.
        checkpoints.save()
    batches = _behind(_batches(stream), n_learned_of_stream(model))
    while True:
        with checkpoints.saving_if_it_fails():
            batch = next(batches, None)
        if batch is None:
            break
        X, y = batch
        for rows in _parts(model, _n_rows(y), checkpoint_every, watch_every):
            with checkpoints.saving_if_it_fails(
                ValueError
            ):  # those before an example that is refused are learned
                if watch is None:
                    model.partial_fit(X[rows], y[rows])
                else:
                    predicted = model.predict_then_learn(X[rows], y[rows], k)
            if watch is not None:
                with checkpoints.saving_if_it_fails():
                    watch(y[rows], predicted)
            checkpoints.save_if_due()
    checkpoints.save()
    return n_learned(model) - before


def n_learned(model: Any) -> int:
    """How many examples a model has learned; 0 if it is new."""
    return int(getattr(model, "n_examples_", 0))


def n_learned_of_stream(model: Any) -> int:
    """How many examples of the present stream a model has learned."""
    return n_learned(model) - int(getattr(model, "stream_start_", 0))


class _Checkpoints:
    """Saves a model at exact numbers of examples, and never twice at the same."""

    def __init__(self, model: StreamLearner, path: str | os.PathLike[str] | None, every: int) -> None:
        self._model = model
        self._path = path
        self._every = every
        self._saved: tuple[int, int] | None = None

    def save_if_due(self) -> None:
        if n_learned(self._model) % self._every == 0:
            self.save()

    def save(self) -> None:
        state = n_learned(self._model), n_learned_of_stream(self._model)
        if self._path is not None and state[0] and state != self._saved:
            self._model.save(self._path)
            self._saved = state

    @contextmanager
    def saving_if_it_fails(self, error: type[BaseException] = BaseException) -> Iterator[None]:
        """Run what leaves the model whole if it fails by this error; what was learned is then saved."""
        try:
            yield
        except error:
            self.save()
            raise


def _batches(stream: Source | Batches) -> Batches:
    if isinstance(stream, (str, os.PathLike)) or hasattr(stream, "read"):
        return read_stream(cast(Source, stream))
    return stream


def _behind(batches: Batches, n_examples: int) -> Iterator[tuple[Any, Any]]:
    """The rest of a stream behind its first examples."""
    left = n_examples
    for X, y in batches:
        n_rows = _n_rows(y)
        if left < n_rows:
            yield (X[left:], y[left:]) if left else (X, y)
        left = max(left - n_rows, 0)
    if left:
        raise ValueError(
            f"the model has learned {n_examples} examples of this stream, but it has only {n_examples - left}; "
            "if it is another stream, say new_stream"
        )


def _parts(model: StreamLearner, n_rows: int, *every: int | None) -> Iterator[slice]:
    """Cut a batch so that the model stops at all multiples of the given numbers of examples."""
    begin = 0
    while begin < n_rows:
        size = min(number - n_learned(model) % number for number in every if number is not None)
        yield slice(begin, begin + size)
        begin += size


def _n_rows(y: Any) -> int:
    return int(y.shape[0]) if hasattr(y, "shape") else len(y)

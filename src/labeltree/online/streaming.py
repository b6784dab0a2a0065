"""Learning from a stream with checkpoints: a crash loses only the work since the last checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias, cast

from labeltree.data import read_stream
from labeltree.data.sources import Source
from labeltree.model.top_labels import TopLabels
from labeltree.wording import count_text

Batches: TypeAlias = Iterable[tuple[Any, Any]]

#: A function of the labels of some examples and the predictions before they were learned.
Watcher: TypeAlias = Callable[[Any, TopLabels], None]


class StreamLearner(Protocol):
    """The interface of a model that learns from a stream.

    `n_examples_` is the number of learned examples, `stream_start_` the number of those before the current stream. A
    new model has neither attribute; `save` writes both.
    """

    stream_start_: int

    def partial_fit(self, X: Any, y: Any) -> Any: ...

    def predict_then_learn(self, X: Any, y: Any, k: int) -> TopLabels: ...

    def save(self, path: Any) -> None: ...


def learn(
    model: StreamLearner,
    stream: Source | Batches,
    *,
    checkpoint: str | os.PathLike[str] | Callable[[], object] | None = None,
    checkpoint_every: int = 100_000,
    new_stream: bool = False,
    watch: Watcher | None = None,
    watch_every: int | None = None,
    k: int = 5,
) -> int:
    """Learn the examples of a stream in their order, and return their number.

    Examples of the stream that the model has already learned are skipped. To resume from a checkpoint, pass the same
    stream from its beginning: the result is the same, bit for bit, as without an interruption.

    Parameters
    ----------
    model : OnlineLabelTreeClassifier
        A new model, or one loaded from a checkpoint.
    stream : str, path-like, binary file or iterable of (X, y)
        A source for :func:`labeltree.data.read_stream`, or batches of examples.
    checkpoint : path of a directory or callable, optional
        Directory to save the model to, atomically, or a function that saves it: after every `checkpoint_every`
        examples, at the end, and on errors.
    checkpoint_every : int
        Number of examples between checkpoints, counted from the first example of the model.
    new_stream : bool
        Whether this is another stream than the last one, so that no example is skipped.
    watch : callable, optional
        Called with the labels of some examples and the predictions before they were learned.
    watch_every : int, optional
        Call `watch` also at every multiple of this number of examples; batches are split there.
    k : int
        Number of labels to predict for `watch`.

    Raises
    ------
    ValueError
        If the stream is shorter than the part of it that the model has already learned.
    DataFormatError
        As :func:`labeltree.data.read_stream` raises it. The examples before the faulty line are learned and saved.
    """
    for name, every in (("checkpoint_every", checkpoint_every), ("watch_every", watch_every)):
        if every is not None and every < 1:
            raise ValueError(f"expected {name} of at least 1, got {every}")
    checkpoints = _Checkpoints(model, checkpoint, checkpoint_every)
    before = n_learned(model)
    if new_stream and before:
        model.stream_start_ = before
        # Saved at once, so that a resumed run does not take this stream for the last one.
        checkpoints.save()
    batches = _skip(_batches(stream), n_learned_of_stream(model))
    while True:
        with checkpoints.saving_if_it_fails():
            batch = next(batches, None)
        if batch is None:
            break
        X, y = batch
        for rows in _parts(model, _n_rows(y), checkpoint_every, watch_every):
            # After a ValueError, the examples before the refused one are learned.
            with checkpoints.saving_if_it_fails(ValueError):
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
    """Return the number of examples that a model has learned; 0 for a new model."""
    return int(getattr(model, "n_examples_", 0))


def n_learned_of_stream(model: Any) -> int:
    """Return the number of examples of the current stream that a model has learned."""
    return n_learned(model) - int(getattr(model, "stream_start_", 0))


class _Checkpoints:
    """Saves a model at multiples of `every` examples, and never twice in the same state."""

    def __init__(
        self, model: StreamLearner, place: str | os.PathLike[str] | Callable[[], object] | None, every: int
    ) -> None:
        self._model = model
        self._place = place
        self._every = every
        self._saved: tuple[int, int] | None = None

    def save_if_due(self) -> None:
        if n_learned(self._model) % self._every == 0:
            self.save()

    def save(self) -> None:
        state = n_learned(self._model), n_learned_of_stream(self._model)
        if self._place is None or not state[0] or state == self._saved:
            return
        if callable(self._place):
            self._place()
        else:
            self._model.save(self._place)
        self._saved = state

    @contextmanager
    def saving_if_it_fails(self, error: type[BaseException] = BaseException) -> Iterator[None]:
        """Save the model if the block raises this error, which must leave the model intact."""
        try:
            yield
        except error:
            self.save()
            raise


def _batches(stream: Source | Batches) -> Batches:
    if isinstance(stream, (str, os.PathLike)) or hasattr(stream, "read"):
        return read_stream(cast(Source, stream))
    return stream


class ShortStreamError(ValueError):
    """A stream has fewer examples than the model has learned of it."""

    def __init__(self, n_learned: int, n_examples: int, cure: str = "set new_stream=True") -> None:
        super().__init__(n_learned, n_examples, cure)
        self.n_learned, self.n_examples, self.cure = n_learned, n_examples, cure

    def __str__(self) -> str:
        return (
            f"the model has learned {count_text(self.n_learned, 'example')} of this stream, but it has only "
            f"{self.n_examples:,}; if it is another stream, {self.cure}"
        )


def _skip(batches: Batches, n_examples: int) -> Iterator[tuple[Any, Any]]:
    """Yield the batches of a stream without its first examples."""
    left = n_examples
    for X, y in batches:
        n_rows = _n_rows(y)
        if left < n_rows:
            yield (X[left:], y[left:]) if left else (X, y)
        left = max(left - n_rows, 0)
    if left:
        raise ShortStreamError(n_examples, n_examples - left)


def _parts(model: StreamLearner, n_rows: int, *every: int | None) -> Iterator[slice]:
    """Yield slices of a batch that end at all multiples of the given numbers of examples."""
    begin = 0
    while begin < n_rows:
        size = min(number - n_learned(model) % number for number in every if number is not None)
        yield slice(begin, begin + size)
        begin += size


def _n_rows(y: Any) -> int:
    return int(y.shape[0]) if hasattr(y, "shape") else len(y)

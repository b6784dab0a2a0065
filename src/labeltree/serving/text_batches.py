"""Texts of several requests, read as one batch by models that are faster so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from labeltree.model.forest import Features
from labeltree.serving import rows
from labeltree.serving.metrics import Metrics
from labeltree.serving.model_threads import ModelThreads
from labeltree.serving.registry import ServedModel

#: Maximum number of texts in a batch. A request with more texts is not joined: others would wait for it too long.
MAX_TEXTS = 64

#: The features of a request with its share of the reading time, or the reason why there are none.
_Read: TypeAlias = tuple[Features, float] | Exception

#: The requests that wait, oldest first: where the features go, and the texts.
_Waiting: TypeAlias = dict["asyncio.Future[_Read]", Sequence[Any]]


class TextBatches:
    """Reads texts, one batch of each model at a time.

    A request to an idle model is read at once. Requests that come while a batch is read wait, and are the next batch.

    Parameters
    ----------
    threads : ModelThreads
        Where texts are read.
    metrics : Metrics
        Counts batches and their texts.
    """

    def __init__(self, threads: ModelThreads, metrics: Metrics) -> None:
        self._threads = threads
        self._metrics = metrics
        # A loaded version is here as long as it reads, so a batch has one version, and an old version is let go.
        self._waiting: dict[ServedModel, _Waiting] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # the event loop has weak references only

    async def read(self, served: ServedModel, texts: Sequence[Any]) -> tuple[Features, float]:
        """Return the features of the texts of a request, and its share of the time that reading the batch took."""
        rows.check_texts(served, texts)
        waiting = self._waiting.get(served)
        if waiting is None:
            waiting = self._waiting[served] = {}
            task = asyncio.create_task(self._read_all(served, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        future: asyncio.Future[_Read] = asyncio.get_running_loop().create_future()
        waiting[future] = texts
        try:
            read = await future
        finally:
            waiting.pop(future, None)  # its time may be over before it is in a batch
        if isinstance(read, Exception):
            raise read
        return read

    async def _read_all(self, served: ServedModel, waiting: _Waiting) -> None:
        """Read batches until no request waits."""
        batch: _Waiting = {}
        try:
            while waiting:
                batch = _next_batch(waiting)
                requests = list(batch.values())
                reads: Sequence[_Read]
                try:
                    reads = await self._threads.run(_read, served, requests)
                except Exception as error:  # too many calls
                    reads = [error] * len(batch)
                else:
                    self._metrics.batched(served.name, sum(map(len, requests)))
                for future, read in zip(batch, reads, strict=True):
                    if not future.done():  # else nobody waits for it any more
                        future.set_result(read)
        finally:
            del self._waiting[served]
            for future in (*batch, *waiting):  # not done only if the threads were closed
                future.cancel()


def _next_batch(waiting: _Waiting) -> _Waiting:
    """Remove the oldest requests, at least one, and return them."""
    batch: _Waiting = {}
    n_texts = 0
    for future, texts in waiting.items():
        n_texts += len(texts)
        if batch and n_texts > MAX_TEXTS:
            break
        batch[future] = texts
    for future in batch:
        del waiting[future]
    return batch


def _read(served: ServedModel, requests: Sequence[Sequence[Any]]) -> list[_Read]:
    """Return the features of each request. If the batch cannot be read, each request is read by itself."""
    try:
        return _read_together(served, requests)
    except Exception as error:  # often the fault of one text; the other requests must not suffer
        if len(requests) == 1:
            return [error]
    return [read for texts in requests for read in _read(served, [texts])]


def _read_together(served: ServedModel, requests: Sequence[Sequence[Any]]) -> list[_Read]:
    started = time.perf_counter()
    features = served.model.model_.read_texts(list(chain.from_iterable(requests)))
    ends = np.cumsum([len(texts) for texts in requests])
    parts = [features]
    if len(requests) > 1:
        parts = [
            features.take(np.arange(end - len(texts), end)) for texts, end in zip(requests, ends, strict=True)
        ]
    seconds_per_text = (time.perf_counter() - started) / int(ends[-1])
    return [(part, seconds_per_text * len(texts)) for part, texts in zip(parts, requests, strict=True)]

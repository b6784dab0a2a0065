"""The models, threads and counters of one worker process, and the way of requests to them."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from labeltree.errors import ModelFileError
from labeltree.serving.errors import Refusal, damaged
from labeltree.serving.exchange import Exchange
from labeltree.serving.journal import Journal, journal_of
from labeltree.serving.learner import Learner
from labeltree.serving.logs import RequestLog, log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.model_threads import ModelThreads
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.reloading import Reloader
from labeltree.serving.schemas import Example
from labeltree.serving.settings import Settings
from labeltree.serving.shared_state import SharedState
from labeltree.serving.verification import Verifier

_Result = TypeVar("_Result")

#: A question of at most this many bytes is answered on the event loop, if the model has answered such questions in less
#: than this many seconds: a thread would take longer.
SMALL_BYTES = 4096
SMALL_SECONDS = 0.002


class Service:
    """The part of the server that belongs to one worker process.

    Parameters
    ----------
    settings : Settings
    shared : SharedState, optional
        Shared by all workers; by default this is the only worker.
    worker : int
        The number of this worker.
    """

    def __init__(self, settings: Settings, shared: SharedState | None = None, worker: int = 0) -> None:
        names = list(settings.models)
        self.settings = settings
        self.worker = worker
        self.shared = SharedState(names) if shared is None else shared
        self.log = RequestLog(sys.stderr if settings.log_requests else None)
        self.metrics = Metrics(names, self.shared.counters, worker)
        n_requests = {name: self.shared.n_requests(name) for name in names}  # before the models are loaded
        # A model that learns is verified first: what it learns could not be taken back.
        self.registry = Registry(settings.models, settings.verify or settings.learn)
        self.learners = self._start_learners() if settings.learn else {}
        for served in self.registry:
            self.shared.set_loaded(worker, served.name, served.saved_version, n_requests[served.name])
        self._verifier = Verifier(self.registry, self.shared, worker, self.metrics)
        self.reloader = Reloader(self.registry, self.shared, worker, self.metrics, self._verifier)
        self._threads = ModelThreads(settings.limits.in_flight)
        self._following: asyncio.Task[None] | None = None
        self.is_ready = False

    def _start_learners(self) -> dict[str, Learner]:
        learners = {}
        for served in [served for served in self.registry if served.is_online]:
            path = self.settings.models[served.name]
            journal = Journal(journal_of(path))
            try:
                # Another server may have saved the model after it was loaded and before the journal was locked.
                if self.registry.version_on_disk(served.name) != served.saved_version:
                    served = self.registry.reload(served.name)
                learning = replace(served, learns=True)
                learners[served.name] = Learner(learning, path, self.settings.snapshot_every, journal)
            except BaseException:
                journal.close()
                raise
            self.registry.replace(learning)
        if not learners:
            raise ValueError(
                "none of the models can learn: add one of 'labeltree learn', or leave --learn out"
            )
        return learners

    async def start(self) -> None:
        """Begin to verify models, and to follow reload requests and changes of files."""
        self._following = asyncio.create_task(self.reloader.follow(self.settings.watch_seconds))
        self._verifier.start()
        self.is_ready = True
        self.shared.set_ready(self.worker, True)

    def begin_stop(self) -> None:
        """Say that the server is about to stop, so that load balancers send no more requests."""
        self.is_ready = False

    async def stop(self) -> None:
        """Finish the requests in progress, and save the models that learned."""
        self.is_ready = False
        if self._following is not None:
            self._following.cancel()
        await asyncio.to_thread(self._verifier.stop)
        self._threads.close()
        for learner in self.learners.values():
            await asyncio.to_thread(learner.close)
        self.log.flush()

    async def ask(
        self,
        exchange: Exchange,
        served: ServedModel,
        n_rows: int,
        answer: Callable[..., _Result],
        *arguments: Any,
    ) -> _Result:
        """Return ``answer(served, *arguments)``, computed on the event loop if that is fast, else in a thread."""
        exchange.model, exchange.rows = served.name, n_rows
        if served.is_damaged:
            raise damaged(served.name)
        is_small = n_rows == 1 and exchange.n_bytes <= SMALL_BYTES and not served.learns

        def timed() -> _Result:
            started = time.perf_counter()
            try:
                return answer(served, *arguments)
            finally:
                exchange.model_seconds = time.perf_counter() - started

        try:
            if is_small and served.small_seconds is not None and served.small_seconds < SMALL_SECONDS:
                result = timed()
            else:
                result = await self._threads.run(timed)
        except ModelFileError as error:  # a block that was never read before is damaged
            log_event("damaged model", level=logging.ERROR, error=error, model=served.name)
            raise Refusal(500, f"the files of the model {served.name} are damaged", "damaged_model") from None
        finally:
            if exchange.model_seconds > 0:  # else it was refused or cancelled before the model was done
                self.metrics.worked(served.name, n_rows, exchange.model_seconds)
        if is_small:  # requests without an answer do not count
            seconds, average = exchange.model_seconds, served.small_seconds
            if average is None:
                average = seconds
            # Capped: a slow answer while others had the processor means little.
            served.small_seconds = average + 0.2 * (min(seconds, 2 * SMALL_SECONDS) - average)
        return result

    async def learn(self, exchange: Exchange, served: ServedModel, examples: list[Example]) -> int:
        """Let a model learn examples; return the total number of its examples when all are on disk."""
        learner = self.learners.get(served.name)
        if learner is None:
            why = "the server runs without --learn" if served.is_online else "it is not an online model"
            raise Refusal(409, f"the model {served.name} does not learn: {why}", "does_not_learn")
        exchange.model, exchange.rows = served.name, len(examples)
        started = time.perf_counter()
        learned = await self._threads.run(learner.learn, examples)
        # Shielded: examples that wait are learned even if their client is gone.
        n_examples = await asyncio.shield(asyncio.wrap_future(learned))
        exchange.model_seconds = time.perf_counter() - started
        self.metrics.worked(served.name, len(examples), exchange.model_seconds)
        return n_examples

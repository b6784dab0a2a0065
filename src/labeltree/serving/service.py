"""The models, threads and counters of one worker process, and the way of requests to them."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from labeltree.errors import ModelFileError
from labeltree.model_file.journal_lines import Receipt
from labeltree.model_file.lock import ModelLock
from labeltree.online.journaled_model import JournaledModel
from labeltree.serving.bodies import parse_large
from labeltree.serving.errors import Refusal, damaged
from labeltree.serving.exchange import Exchange
from labeltree.serving.learner import Learner
from labeltree.serving.lessons import Accepted, PartlyLearned, read_key
from labeltree.serving.logs import RequestLog, log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.model_threads import ModelThreads
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.reloading import Reloader
from labeltree.serving.schemas import Example
from labeltree.serving.settings import Settings
from labeltree.serving.shared_state import SharedState
from labeltree.serving.text_batches import TextBatches
from labeltree.serving.verification import Verifier

_Result = TypeVar("_Result")

#: A question of at most this many bytes is answered on the event loop by a model that is fast.
SMALL_BYTES = 4096

#: An answer with more labels is large: it takes longer to write than to predict.
LARGE_LABELS = 10_000


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
        # One thread: what is large holds the GIL for long, and more would take turns with the event loop.
        self._large = ModelThreads(settings.limits.in_flight, 1)
        self._batches = TextBatches(self._threads, self.metrics)
        self._following: asyncio.Task[None] | None = None
        self.is_ready = False

    def _start_learners(self) -> dict[str, Learner]:
        learners: dict[str, Learner] = {}
        try:
            for served in [served for served in self.registry if served.is_online]:
                learners[served.name] = self._start_learner(served)
        except BaseException:
            for learner in learners.values():
                learner.close()
            raise
        if not learners:
            raise ValueError(
                "none of the models can learn: add one of 'labeltree learn', or leave --learn out"
            )
        return learners

    def _start_learner(self, served: ServedModel) -> Learner:
        path = self.settings.models[served.name]
        if served.model.label_kind_ != "lists":
            raise ValueError(f"{path}: this model learned from a label matrix, not from lists of labels")
        lock = ModelLock(path, "learns into this model (labeltree serve --learn)")
        try:
            # Another process may have saved the model after it was loaded and before it was locked.
            if self.registry.version_on_disk(served.name) != served.saved_version:
                served = self.registry.reload(served.name)
            journaled = JournaledModel(served.model, path, lock, keeps_stream=True)
        except BaseException:
            lock.release()
            raise
        if journaled.n_replayed:
            log_event("replayed", model=str(path), examples=journaled.n_replayed)
        self.registry.replace(replace(served, learns=True))
        return Learner(journaled, self.settings.snapshot_every)

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
        self._large.close()
        for learner in self.learners.values():
            await asyncio.to_thread(learner.close)
        self.log.flush()

    async def parse(self, model: type[BaseModel], body: bytes) -> Any:
        """Return a large body as a checked object, without holding up the event loop."""
        return await self.run_large(parse_large, model, body, self.settings.limits)

    async def run_large(self, work: Callable[..., _Result], *arguments: Any) -> _Result:
        """Return ``work(*arguments)``, computed in the thread for large bodies and answers."""
        return await self._large.run(work, *arguments)

    async def ask(
        self,
        exchange: Exchange,
        served: ServedModel,
        n_rows: int,
        answer: Callable[..., _Result],
        *arguments: Any,
        n_labels: int = 0,
        texts: Sequence[Any] | None = None,
    ) -> _Result:
        """Return ``answer(served, *arguments)``, computed on the event loop if that is fast, else in a thread.

        `n_labels` is the maximum number of labels in the answer. If there are `texts`, they are read first, together
        with those of other requests that wait, and `answer` gets their features as one more argument.
        """
        exchange.model, exchange.rows = served.name, n_rows
        if served.is_damaged:
            raise damaged(served.name)
        is_small = n_rows == 1 and exchange.n_bytes <= SMALL_BYTES and not served.learns
        if (
            texts is not None
        ):  # the time without reading says nothing about questions that read their own texts
            is_small = False

        def timed() -> _Result:
            started = time.perf_counter()
            try:
                return answer(served, *arguments)
            finally:
                exchange.model_seconds += time.perf_counter() - started

        try:
            if texts is not None:
                features, exchange.model_seconds = await self._batches.read(served, texts)
                arguments = (*arguments, features)
            if is_small and served.is_fast:
                result = timed()
            else:
                threads = self._large if n_labels > LARGE_LABELS else self._threads
                result = await threads.run(timed)
        except ModelFileError as error:  # a block that was never read before is damaged
            log_event("damaged model", level=logging.ERROR, error=error, model=served.name)
            raise damaged(served.name) from None
        finally:
            if exchange.model_seconds > 0:  # else it was refused or cancelled before the model was done
                self.metrics.worked(served.name, n_rows, exchange.model_seconds)
        if is_small:  # requests without an answer do not count
            served.took(exchange.model_seconds)
        return result

    async def learn(self, exchange: Exchange, served: ServedModel, examples: list[Example]) -> Receipt:
        """Let a model learn examples; return the receipt when all are learned and on disk."""
        learner = self.learners.get(served.name)
        if learner is None:
            raise Refusal(
                409, f"the model {served.name} does not learn: {self._why_not(served)}", "does_not_learn"
            )
        exchange.model, exchange.rows = served.name, len(examples)
        started = time.perf_counter()
        key = read_key(exchange.headers.get(b"idempotency-key"))
        # Submitted here rather than in the thread, which runs on when the time of the request is over.
        lesson = learner.submit(await self._threads.run(learner.prepare, examples, key))
        try:
            outcome = await asyncio.shield(asyncio.wrap_future(lesson.learned))
        except asyncio.CancelledError:
            seconds = self.settings.limits.seconds
            message = f"not learned within {seconds:g} seconds; nothing was learned: retry"
            learner.withdraw(lesson, Refusal(504, message))
            if refusal := await asyncio.shield(asyncio.wrap_future(lesson.written)):
                raise refusal from None
            raise Accepted(served.name, len(examples)) from None
        if isinstance(outcome, Refusal):
            raise outcome
        if outcome.refusal is not None:  # that of an earlier request with the same key
            raise PartlyLearned(409, outcome)
        exchange.model_seconds = time.perf_counter() - started
        self.metrics.worked(served.name, len(examples), exchange.model_seconds)
        return outcome

    def learning(self) -> dict[str, str | None]:
        """Return why each model does not learn at the moment; None for those that do."""
        learning = {}
        for served in self.registry:
            learner = self.learners.get(served.name)
            learning[served.name] = self._why_not(served) if learner is None else learner.why_not
        return learning

    def _why_not(self, served: ServedModel) -> str:
        return "the server runs without --learn" if served.is_online else "it is not an online model"

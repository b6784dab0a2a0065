"""One process's part of the service: models, counters and threads, and how questions reach them."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from labeltree.errors import ModelFileError
from labeltree.serving.board import Board
from labeltree.serving.errors import Refusal
from labeltree.serving.journal import Journal, journal_of
from labeltree.serving.learner import Learner
from labeltree.serving.logs import Exchange, RequestLog, log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.model_threads import ModelThreads
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.schemas import Example
from labeltree.serving.settings import Settings

_Result = TypeVar("_Result")

#: A question with a body of so few bytes is answered where it is read, if the model takes less than this for such:
#: to hand it to a thread would take longer. Others wait for no more than this.
SMALL_BYTES = 4096
SMALL_SECONDS = 0.002

#: How often a worker looks whether a reload was asked for.
LOOK_SECONDS = 0.05


class Service:
    """Everything that a worker process has.

    Parameters
    ----------
    settings : Settings
    board : Board, optional
        Shared by all workers; by default this is the only one.
    worker : int
        Which of the workers this is.
    """

    def __init__(self, settings: Settings, board: Board | None = None, worker: int = 0) -> None:
        self.settings = settings
        self.worker = worker
        self.board = Board(list(settings.models)) if board is None else board
        self.log = RequestLog(sys.stderr if settings.log_requests else None)
        self.metrics = Metrics(settings.models, self.board.counters, worker)
        asked = {name: self.board.asked(name) for name in settings.models}  # before they are loaded
        self.registry = Registry(settings.models)
        self.learners = self._start_learners() if settings.learn else {}
        for served in self.registry:
            self.board.follow(worker, served.name, asked[served.name], served.saved_version)
        self._threads = ModelThreads(settings.limits.in_flight)
        self._pace: dict[str, float] = {}  # seconds that small questions took lately, by model
        self._following: asyncio.Task[None] | None = None
        self._reloads: set[asyncio.Task[Any]] = set()
        self.is_ready = False

    def _start_learners(self) -> dict[str, Learner]:
        learners = {}
        for loaded in list(self.registry):
            if loaded.is_online:
                served = loaded
                path = self.settings.models[served.name]
                journal = Journal(journal_of(path))
                try:
                    # Another server may have saved it between its loading and the lock that the journal is.
                    if self.registry.version_on_disk(served.name) != served.saved_version:
                        served = self.registry.reload(served.name)
                    learner = Learner(served.model, path, self.settings.snapshot_every, journal)
                except BaseException:
                    journal.close()
                    raise
                learners[served.name] = learner
                self.registry.replace(
                    ServedModel(served.name, served.model, served.saved_version, learns=True)
                )
        if not learners:
            raise ValueError(
                "none of the models can learn: expected one of 'labeltree learn', an online model; leave --learn out"
            )
        return learners

    async def start(self) -> None:
        """Begin to follow what other workers and the disk say."""
        self._following = asyncio.create_task(self._follow())
        self.is_ready = True
        self.board.note_answering(self.worker, True)

    async def stop(self) -> None:
        """Let what runs come to its end, and save what was learned."""
        self.is_ready = False
        if self._following is not None:
            self._following.cancel()
        self._threads.close()
        for learner in self.learners.values():
            await asyncio.to_thread(learner.close)
        self.log.flush()

    # -- questions -------------------------------------------------------------------------------------------------

    async def ask(
        self,
        exchange: Exchange,
        served: ServedModel,
        n_rows: int,
        answer: Callable[..., _Result],
        *arguments: Any,
    ) -> _Result:
        """Let a model answer: at once if that is quick, else in a thread."""
        exchange.model, exchange.rows = served.name, n_rows
        is_small = n_rows == 1 and exchange.n_bytes <= SMALL_BYTES and not served.learns

        def timed() -> _Result:
            started = time.perf_counter()
            try:
                return answer(served, *arguments)
            finally:
                exchange.model_seconds = time.perf_counter() - started

        try:
            if is_small and self._pace.get(served.name, 1.0) < SMALL_SECONDS:
                result = timed()
            else:
                result = await self._threads.run(timed)
        except ModelFileError as error:  # a block that was never looked at before is damaged
            log_event("damaged model", level=logging.ERROR, error=error, model=served.name)
            raise Refusal(500, f"the files of the model {served.name} are damaged", "damaged_model") from None
        finally:
            if exchange.model_seconds > 0:  # else it was refused or given up before it was done
                self.metrics.worked(served.name, n_rows, exchange.model_seconds)
        if is_small:  # what was not answered says nothing about the pace of answers
            seconds = exchange.model_seconds
            # Capped: one that was slow, because others had the processor, says little.
            lately, now = self._pace.get(served.name, seconds), min(seconds, 2 * SMALL_SECONDS)
            self._pace[served.name] = lately + 0.2 * (now - lately)
        return result

    async def learn(self, exchange: Exchange, served: ServedModel, examples: list[Example]) -> int:
        """Let a model learn; how many examples it has then learned in all, safely on disk."""
        learner = self.learners.get(served.name)
        if learner is None:
            why = (
                "it is not an online model"
                if not served.is_online
                else "the server was started without --learn"
            )
            raise Refusal(409, f"the model {served.name} does not learn: {why}", "does_not_learn")
        exchange.model, exchange.rows = served.name, len(examples)
        started = time.perf_counter()
        # What is begun is finished: a client that is told nothing could not know.
        learned = await self._threads.run(learner.learn, served, examples)
        n_examples = await asyncio.shield(asyncio.wrap_future(learned))
        exchange.model_seconds = time.perf_counter() - started
        self.metrics.worked(served.name, len(examples), exchange.model_seconds)
        return n_examples

    # -- new versions ----------------------------------------------------------------------------------------------

    async def reload(self, name: str, wait_seconds: float) -> tuple[ServedModel, bool]:
        """Load a model anew in all workers; what this one has, and whether all were done in time."""
        if self.registry[name].learns:
            raise Refusal(
                409, f"the model {name} learns: its directory is written, not read, by this server", "learns"
            )
        until = time.monotonic() + wait_seconds
        # Of its own, so that whoever asks may be gone, or late, but never be the only one with a new version.
        loading = asyncio.create_task(self._load_for_all(name))
        self._reloads.add(loading)
        loading.add_done_callback(self._reloads.discard)
        await asyncio.wait([loading], timeout=wait_seconds)
        if not loading.done():
            return self.registry[name], False
        refusal, request = loading.result()
        if refusal is not None:
            raise refusal
        while not (complete := self.board.have_all_followed(name, request)) and time.monotonic() < until:
            await asyncio.sleep(LOOK_SECONDS / 2)
        served = self.registry[name]
        return served, complete and set(self.board.versions(name)) == {served.saved_version}

    async def _load_for_all(self, name: str) -> tuple[Refusal | None, int]:
        """Load a model anew, and if that succeeds ask all workers to; the number of this request."""
        before = self.board.asked(name)
        try:
            await self._load(name)
        except ModelFileError as error:
            return Refusal(409, f"{error}; the version before it is still served", "cannot_load"), 0
        except Exception:
            return Refusal(500, "the model cannot be loaded; the log of the server says why"), 0
        request = self.board.ask(self.worker, name)
        # If others were asked since this one began, there may be a newer version: it looks again.
        followed = request if request == before + 1 else before
        self.board.follow(self.worker, name, followed, self.registry[name].saved_version)
        return None, request

    async def _load(self, name: str) -> ServedModel:
        try:
            served = await asyncio.to_thread(self.registry.reload, name)
        except Exception as error:
            self.metrics.reloaded(name, "failed")
            fault = None if isinstance(error, ModelFileError) else error  # which says itself what is wrong
            log_event("reload failed", level=logging.ERROR, error=fault, model=name, reason=str(error))
            raise
        self.metrics.reloaded(name, "loaded")
        self._pace.pop(name, None)
        log_event("reloaded", model=name, version=served.saved_version, worker=self.worker)
        return served

    async def _follow(self) -> None:
        """Load models anew when another worker was asked to, or if the settings say so, when their files change."""
        watch, last_look = self.settings.watch_seconds, time.monotonic()
        refused: dict[str, str] = {}  # versions that could not be loaded, so that they are tried only once
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for served in list(self.registry):
                if not served.learns and self.board.asked(served.name) > self.board.followed(
                    self.worker, served.name
                ):
                    await self._going_on(self._catch_up(served.name))
            if watch is None or time.monotonic() < last_look + watch:
                continue
            last_look = time.monotonic()
            for served in list(self.registry):
                if not served.learns:
                    await self._going_on(self._look_at(served, refused))

    async def _going_on(self, step: Awaitable[None]) -> None:
        """What goes wrong in one step must not end all that follow."""
        try:
            await step
        except Exception as error:
            log_event("following failed", level=logging.ERROR, error=error, worker=self.worker)

    async def _catch_up(self, name: str) -> None:
        request = self.board.asked(name)
        try:
            version = (await self._load(name)).saved_version
        except Exception:  # the one before is still right; who asked sees which one this is
            version = self.registry[name].saved_version
        self.board.follow(self.worker, name, request, version)

    async def _look_at(self, served: ServedModel, refused: dict[str, str]) -> None:
        try:
            version = await asyncio.to_thread(self.registry.version_on_disk, served.name)
        except ModelFileError:  # not there, for the moment
            return
        if version in (served.saved_version, refused.get(served.name)):
            return
        try:
            loaded = await self._load(served.name)
        except ModelFileError:
            refused[served.name] = version
        else:
            followed = self.board.followed(self.worker, served.name)
            self.board.follow(self.worker, served.name, followed, loaded.saved_version)

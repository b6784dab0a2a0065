"""Reload models in all workers without dropping requests, on request or when their files change."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from labeltree.errors import ModelFileError
from labeltree.serving.errors import Refusal
from labeltree.serving.logs import log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.shared_state import SharedState
from labeltree.serving.verification import Verifier

#: How often a worker looks for reload requests of other workers.
LOOK_SECONDS = 0.05


class Reloader:
    """Keeps the models of one worker up to date.

    The worker that receives a reload request loads the model first. If that succeeds, it asks all workers to do the
    same, through the shared state.

    Parameters
    ----------
    registry : Registry
        The models of this worker.
    shared : SharedState
    worker : int
        The number of this worker.
    metrics : Metrics
    verifier : Verifier
        Verifies new versions.
    """

    def __init__(
        self, registry: Registry, shared: SharedState, worker: int, metrics: Metrics, verifier: Verifier
    ) -> None:
        self._registry = registry
        self._verifier = verifier
        self._shared = shared
        self._worker = worker
        self._metrics = metrics
        self._tasks: set[asyncio.Task[Any]] = set()
        self._refused: dict[str, str] = {}  # versions that could not be loaded, to try each only once

    async def reload(self, name: str, wait_seconds: float) -> tuple[ServedModel, bool]:
        """Reload a model in all workers; return this worker's model, and whether all have it in time."""
        if self._registry[name].learns:
            raise Refusal(409, f"the model {name} learns: this server writes its directory", "learns")
        deadline = time.monotonic() + wait_seconds
        # A task of its own: if the client leaves, the new version must not remain in this worker alone.
        loading = asyncio.create_task(self._load_in_all(name))
        self._tasks.add(loading)
        loading.add_done_callback(self._tasks.discard)
        await asyncio.wait([loading], timeout=wait_seconds)
        if not loading.done():
            return self._registry[name], False
        outcome = loading.result()
        if isinstance(outcome, Refusal):
            raise outcome
        while not (complete := self._shared.have_all_followed(name, outcome)) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS / 2)
        served = self._registry[name]
        return served, complete and set(self._shared.versions(name)) == {served.saved_version}

    async def follow(self, watch_seconds: float | None) -> None:
        """Follow the reload requests of other workers, and look for new files every `watch_seconds`; never return."""
        last_look = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            is_due = watch_seconds is not None and time.monotonic() >= last_look + watch_seconds
            if is_due:
                last_look = time.monotonic()
            for name in [served.name for served in self._registry if not served.learns]:
                try:
                    await self._follow_requests(name)
                    if is_due:
                        await self._follow_files(name)
                except Exception as error:  # must not end the loop
                    log_event("following failed", level=logging.ERROR, error=error, worker=self._worker)

    async def _load_in_all(self, name: str) -> Refusal | int:
        """Load a model, then ask all workers to load it; return the number of requests so far."""
        n_before = self._shared.n_requests(name)
        try:
            served = await self._load(name)
        except ModelFileError as error:
            return Refusal(409, f"{error}; the previous version is still served", "cannot_load")
        except Exception:
            return Refusal(500, "the model cannot be loaded; the server's log has the details")
        n_requests = self._shared.request_reload(self._worker, name)
        # If another worker has asked meanwhile, there may be a newer version: this worker loads again.
        n_followed = n_requests if n_requests == n_before + 1 else n_before
        self._shared.set_loaded(self._worker, name, served.saved_version, n_followed)
        return n_requests

    async def _follow_requests(self, name: str) -> None:
        n_requests = self._shared.n_requests(name)
        if n_requests <= self._shared.n_followed(self._worker, name):
            return
        try:
            served = await self._load(name)
        except Exception:  # the answer to the request shows the version that this worker has kept
            served = self._registry[name]
        self._shared.set_loaded(self._worker, name, served.saved_version, n_requests)

    async def _follow_files(self, name: str) -> None:
        try:
            version = await asyncio.to_thread(self._registry.version_on_disk, name)
        except ModelFileError:  # not there at the moment
            return
        if version in (self._registry[name].saved_version, self._refused.get(name)):
            return
        if self._registry.is_damaged(name, version):
            return
        try:
            served = await self._load(name)
        except ModelFileError:
            self._refused[name] = version
        else:
            n_followed = self._shared.n_followed(self._worker, name)
            self._shared.set_loaded(self._worker, name, served.saved_version, n_followed)

    async def _load(self, name: str) -> ServedModel:
        try:
            served = await asyncio.to_thread(self._registry.reload, name)
        except Exception as error:
            self._metrics.reloaded(name, is_loaded=False)
            fault = None if isinstance(error, ModelFileError) else error  # its message says enough
            log_event("reload failed", level=logging.ERROR, error=fault, model=name, reason=str(error))
            raise
        self._metrics.reloaded(name, is_loaded=True)
        log_event("reloaded", model=name, version=served.saved_version, worker=self._worker)
        self._verifier.add(served)
        return served

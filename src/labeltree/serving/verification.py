"""Verify the files of models in the background, while the models are served."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time

from labeltree.errors import ModelFileError
from labeltree.serving.logs import log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.shared_state import SharedState


class _StoppedError(Exception):
    """The server stops before a version is verified."""


class Verifier:
    """A thread that compares the files of served versions with their checksums, one version after another.

    It must not slow down requests: it has the lowest priority and rests half of the time. Every worker verifies its
    own versions, so all of them leave a damaged one.

    Parameters
    ----------
    registry : Registry
    shared : SharedState
    worker : int
        The number of this worker.
    metrics : Metrics
    """

    def __init__(self, registry: Registry, shared: SharedState, worker: int, metrics: Metrics) -> None:
        self._registry, self._shared, self._worker, self._metrics = registry, shared, worker, metrics
        self._waiting: queue.SimpleQueue[ServedModel | None] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="verifier", daemon=True)
        self._chunk_began = 0.0

    def start(self) -> None:
        """Start the thread, with all models that are served."""
        for served in self._registry:
            self.add(served)
        self._thread.start()

    def add(self, served: ServedModel) -> None:
        """Verify a version soon, unless that was done when it was loaded."""
        if not served.is_intact and not served.learns:
            self._waiting.put(served)

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # Linux has priorities of threads
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        while (served := self._waiting.get()) is not None:
            try:
                self._verify(served)
            except _StoppedError:
                return
            except Exception as error:  # must not end the thread
                log_event("verification failed", level=logging.ERROR, error=error, model=served.name)

    def _verify(self, served: ServedModel) -> None:
        name, version = served.name, served.saved_version
        self._chunk_began = time.monotonic()
        try:
            is_intact = self._registry.verify(served, self._rest)
        except ModelFileError as error:
            self._metrics.verified(name, is_intact=False)
            now = self._registry[name]
            self._shared.set_version(self._worker, name, now.saved_version)
            then = "the model answers nothing" if now.is_damaged else f"back to version {now.saved_version}"
            log_event(
                "damaged version",
                level=logging.ERROR,
                model=name,
                version=version,
                reason=str(error),
                consequence=then,
                worker=self._worker,
            )
        else:
            if is_intact:
                self._metrics.verified(name, is_intact=True)
                log_event("verified", model=name, version=version, worker=self._worker)

    def _rest(self) -> None:
        """Wait as long as the last megabyte took."""
        if self._stopped.wait(min(1.0, time.monotonic() - self._chunk_began)):
            raise _StoppedError
        self._chunk_began = time.monotonic()

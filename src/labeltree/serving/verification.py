"""Verify the files of models in the background, while the models are served."""

from __future__ import annotations

import logging
import queue
import subprocess
import sys
import threading
from typing import BinaryIO

from labeltree.errors import ModelFileError
from labeltree.serving.logs import log_event
from labeltree.serving.metrics import Metrics
from labeltree.serving.registry import Registry, ServedModel
from labeltree.serving.shared_state import SharedState

#: A program that prints the SHA-256 of its standard input.
_HASH = """
import hashlib, os, sys
getattr(os, "nice", int)(19)
digest = hashlib.sha256()
while chunk := os.read(0, 1 << 20):
    digest.update(chunk)
print(digest.hexdigest())
"""


class _StoppedError(Exception):
    """The server stops before a version is verified."""


class Verifier:
    """A thread that compares the files of served versions with their checksums, one version after another.

    It must not slow down requests, so a process of the lowest priority computes the checksums. A thread would take
    Python's lock from the requests. Every worker verifies its own versions, so all of them leave a damaged one.

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
        self._hashing: subprocess.Popen[bytes] | None = None

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
        if (hashing := self._hashing) is not None:
            hashing.kill()
        self._waiting.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while (served := self._waiting.get()) is not None:
            try:
                self._verify(served)
            except _StoppedError:
                return
            except Exception as error:  # must not end the thread
                log_event("verification failed", level=logging.ERROR, error=error, model=served.name)

    def _verify(self, served: ServedModel) -> None:
        name, version = served.name, served.saved_version
        try:
            is_intact = self._registry.verify(served, self._sha256)
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

    def _sha256(self, file: BinaryIO) -> str:
        command = [sys.executable, "-I", "-S", "-c", _HASH]
        with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE) as self._hashing:
            if self._stopped.is_set():  # perhaps before there was a process to kill
                self._hashing.kill()
            printed, _ = self._hashing.communicate()
        if self._stopped.is_set():
            raise _StoppedError
        if self._hashing.returncode != 0:
            raise RuntimeError(f"the process that computes checksums ended with {self._hashing.returncode}")
        return printed.decode().strip()

"""Start several worker processes behind one socket, and restart those that crash."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from labeltree.serving.draining import refuse_connections
from labeltree.serving.logs import log_event
from labeltree.serving.settings import Settings
from labeltree.serving.shared_state import SharedState
from labeltree.serving.worker_start import start_worker

#: A crash is early if it comes within this time after the start, or before the worker is ready.
EARLY_SECONDS = 5.0

#: After this many early crashes in a row the server gives up.
MAX_EARLY_CRASHES = 5

_LOOK_SECONDS = 0.5


class Supervisor:
    """Starts workers, restarts those that crash, and stops all on SIGTERM or SIGINT.

    Processes are spawned rather than forked, so that none inherits a thread or a locked lock. They share the socket,
    the memory of mapped models, and a `SharedState`.

    Parameters
    ----------
    settings : Settings
    listener : socket
        A bound socket; the workers accept connections from it.
    """

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._context = multiprocessing.get_context("spawn")
        self._shared = SharedState(list(settings.models), settings.workers, self._context)
        self._workers: dict[int, BaseProcess] = {}
        self._started: dict[int, float] = {}
        self._n_early_crashes = 0
        self._stopping = False

    def run(self, announce: Callable[[], None]) -> None:
        """Keep workers running until SIGTERM or SIGINT; raise `ChildProcessError` if they crash again and again.

        `announce` is called once, when the first worker answers.
        """
        is_announced = False
        signals = (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.signal(number, self._on_signal) for number in signals}
        try:
            for worker in range(self._settings.workers):
                self._start(worker)
            while not self._stopping:
                wait([process.sentinel for process in self._workers.values()], timeout=_LOOK_SECONDS)
                if not is_announced and any(map(self._shared.is_ready, self._workers)):
                    announce()
                    is_announced = True
                for worker, process in list(self._workers.items()):
                    if process.exitcode is not None and not self._stopping:
                        self._restart(worker, process)
        finally:
            self._stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: Any) -> None:
        refuse_connections(self._listener)  # before any worker stops to accept them
        self._stopping = True

    def _start(self, worker: int) -> None:
        self._shared.set_ready(worker, False)
        arguments = (self._settings, self._listener, self._shared, worker)
        process = self._context.Process(target=start_worker, args=arguments, name=f"worker-{worker}")
        process.start()
        self._workers[worker], self._started[worker] = process, time.monotonic()

    def _restart(self, worker: int, process: BaseProcess) -> None:
        log_event("worker died", level=logging.ERROR, worker=worker, exit_code=process.exitcode)
        seconds = time.monotonic() - self._started[worker]
        is_early = seconds < EARLY_SECONDS or not self._shared.is_ready(worker)
        self._n_early_crashes = self._n_early_crashes + 1 if is_early else 0
        process.close()
        del self._workers[worker]
        if self._n_early_crashes >= MAX_EARLY_CRASHES:
            raise ChildProcessError("workers crash as soon as they are started; the log has the reason")
        if self._n_early_crashes:  # longer each time, because the cause may go away
            time.sleep(_LOOK_SECONDS * self._n_early_crashes)
        if not self._stopping:
            self._start(worker)

    def _stop(self) -> None:
        """Let workers finish their requests, and kill those that take too long."""
        for process in self._workers.values():
            process.terminate()
        deadline = time.monotonic() + self._settings.grace_seconds + 5.0
        for process in self._workers.values():
            process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                log_event("worker killed", level=logging.ERROR, worker=process.name)
                process.kill()
                process.join()

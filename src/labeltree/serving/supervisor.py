"""Several worker processes behind one socket: one that dies is replaced, and all end together."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import time
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from labeltree.serving.board import Board
from labeltree.serving.logs import log_event
from labeltree.serving.settings import Settings
from labeltree.serving.worker import run_worker

#: A worker that dies sooner than this after it was started did not get far; nor did one, however long it took to load
#: its models, that dies before it answers.
EARLY_SECONDS = 5.0

#: So many early deaths in a row, and there is something wrong that starting again does not cure.
MOST_EARLY_DEATHS = 5

_LOOK_SECONDS = 0.5


class Supervisor:
    """Starts workers, starts others for those that die, and stops all when it is told to.

    Processes are started afresh rather than forked, so that none inherits half of a lock or a thread. They share the
    socket, the pages of mapped models, and a `Board`.

    Parameters
    ----------
    settings : Settings
    listener : socket
        Bound; the workers accept from it.
    """

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._context = multiprocessing.get_context("spawn")
        self._board = Board(list(settings.models), settings.workers, self._context)
        self._workers: dict[int, BaseProcess] = {}
        self._started: dict[int, float] = {}
        self._n_early_deaths = 0
        self._stopping = False

    def run(self) -> None:
        """Keep workers at work until SIGTERM or SIGINT; raises `ChildProcessError` if they cannot be kept alive."""
        before = {number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            for worker in range(self._settings.workers):
                self._start(worker)
            while not self._stopping:
                self._look_after()
        finally:
            self._stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: Any) -> None:
        self._stopping = True

    def _start(self, worker: int) -> None:
        self._board.note_answering(worker, False)
        process = self._context.Process(
            target=run_worker,
            args=(self._settings, self._listener, self._board, worker),
            name=f"worker-{worker}",
        )
        process.start()
        self._workers[worker], self._started[worker] = process, time.monotonic()

    def _look_after(self) -> None:
        wait([process.sentinel for process in self._workers.values()], timeout=_LOOK_SECONDS)
        for worker, process in list(self._workers.items()):
            if process.exitcode is None or self._stopping:
                continue
            log_event("worker died", level=logging.ERROR, worker=worker, exit_code=process.exitcode)
            lived = time.monotonic() - self._started[worker]
            is_early = lived < EARLY_SECONDS or not self._board.answers(worker)
            self._n_early_deaths = self._n_early_deaths + 1 if is_early else 0
            process.close()
            del self._workers[worker]
            if self._n_early_deaths >= MOST_EARLY_DEATHS:
                raise ChildProcessError("workers die as soon as they are started; the log says why")
            if self._n_early_deaths:  # longer each time, so that what is wrong may pass
                time.sleep(_LOOK_SECONDS * self._n_early_deaths)
            if not self._stopping:
                self._start(worker)

    def _stop(self) -> None:
        """Let workers finish what they are at, but not for ever."""
        for process in self._workers.values():
            process.terminate()
        until = time.monotonic() + self._settings.grace_seconds + 5.0
        for process in self._workers.values():
            process.join(max(0.0, until - time.monotonic()))
            if process.exitcode is None:
                log_event("worker killed", level=logging.ERROR, worker=process.name)
                process.kill()
                process.join()

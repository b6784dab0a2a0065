"""One process that answers: the application, run by uvicorn."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from multiprocessing import parent_process
from typing import Any

import uvicorn

from labeltree.serving.application import create_application
from labeltree.serving.board import Board
from labeltree.serving.logs import log_event, start_logs
from labeltree.serving.service import Service
from labeltree.serving.settings import Settings

#: A connection on which nothing was asked for so long is closed.
KEEP_ALIVE_SECONDS = 30


def serve(settings: Settings, listener: socket.socket, board: Board | None = None, worker: int = 0) -> None:
    """Answer requests until a signal says to stop; those at work are then finished, and what was learned is saved.

    Parameters
    ----------
    settings : Settings
    listener : socket
        Bound, and perhaps shared with other processes.
    board : Board, optional
        Shared by all workers; by default this is the only one.
    worker : int
        Which of the workers this is.
    """
    service = Service(settings, board, worker)
    config = uvicorn.Config(
        create_application(service),
        log_config=None,
        access_log=False,  # the gate writes a better one
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=max(1, round(settings.grace_seconds)),
        ws="none",
        lifespan="on",
    )
    server = uvicorn.Server(config)

    def stop(number: int, frame: Any) -> None:
        """Before uvicorn hears signals, this ends the process; afterwards uvicorn raises again what it has heeded."""
        if not server.started:
            raise SystemExit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(1)


def run_worker(settings: Settings, listener: socket.socket, board: Board, worker: int) -> None:
    """What a process of the supervisor does."""
    start_logs(quiet=not settings.log_requests)
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        serve(settings, listener, board, worker)
    except Exception as error:
        log_event("worker failed", level=logging.ERROR, error=error, worker=worker)
        sys.exit(1)


def _stop_with_parent() -> None:
    """Whatever ends the supervisor, its workers do not stay behind."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)

"""One worker process: the application, run by uvicorn."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from multiprocessing import parent_process
from typing import Any

import uvicorn

from labeltree.serving.application import create_application
from labeltree.serving.draining import DrainingServer, refuse_connections
from labeltree.serving.logs import log_event, start_logs
from labeltree.serving.protocol import protocol_of
from labeltree.serving.service import Service
from labeltree.serving.settings import Settings
from labeltree.serving.shared_state import SharedState

#: A thread that computes lets the event loop go on after this time; Python's default is 5 ms.
SWITCH_SECONDS = 0.0005


def serve(
    settings: Settings,
    listener: socket.socket,
    shared: SharedState | None = None,
    worker: int = 0,
    announce: Callable[[], None] | None = None,
) -> None:
    """Answer requests until SIGTERM or SIGINT; then answer what has arrived and save what was learned.

    Parameters
    ----------
    settings : Settings
    listener : socket
        A bound socket; other processes may share it.
    shared : SharedState, optional
        Shared by all workers; by default this is the only worker.
    worker : int
        The number of this worker.
    announce : callable, optional
        Called when the models are loaded.
    """
    service = Service(settings, shared, worker)
    if announce is not None:
        announce()
    application = create_application(service)
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,  # the gate logs requests
        server_header=False,
        date_header=False,
        proxy_headers=False,
        **protocol_of(settings.limits, application.state.fast_lane),
        timeout_graceful_shutdown=max(1, round(settings.grace_seconds)),
        ws="none",
        lifespan="on",
    )
    server = DrainingServer(config, listener, shared is None, service.begin_stop)
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # collections never look at what was loaded so far, which takes them a tenth of a second

    def stop(number: int, frame: Any) -> None:
        """End the process before uvicorn handles signals; afterwards ignore the signal, which uvicorn raises again."""
        if not server.started:
            raise SystemExit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    server.run(sockets=[listener])
    gc.unfreeze()  # what is frozen would never be freed, and the kernel would report it as leaked
    if not server.started:
        raise SystemExit(1)


def run_worker(settings: Settings, listener: socket.socket, shared: SharedState, worker: int) -> None:
    """Serve in a process that the supervisor started."""
    start_logs(quiet=not settings.log_requests)
    threading.Thread(target=_stop_with_parent, args=(listener,), daemon=True).start()
    try:
        serve(settings, listener, shared, worker)
    except Exception as error:
        log_event("worker failed", level=logging.ERROR, error=error, worker=worker)
        sys.exit(1)


def _stop_with_parent(listener: socket.socket) -> None:
    """Stop this worker when the supervisor ends, for whatever reason."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    refuse_connections(listener)
    os.kill(os.getpid(), signal.SIGTERM)

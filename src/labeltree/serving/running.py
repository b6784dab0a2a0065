"""Start a server from its settings: the socket, and one process or several."""

from __future__ import annotations

import socket
from collections.abc import Callable

from labeltree.serving.logs import start_logs
from labeltree.serving.settings import Settings


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket, or raise an error that names the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None


def run(settings: Settings, listener: socket.socket, announce: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Parameters
    ----------
    settings : Settings
    listener : socket
        The result of `listen`.
    announce : callable
        Called once, when the models are loaded, or those of the first worker.

    Raises
    ------
    ModelFileError
        If a model is missing or damaged, and there is only one process.
    ChildProcessError
        If worker processes crash again and again.
    """
    from labeltree.serving.supervisor import Supervisor
    from labeltree.serving.worker import serve

    start_logs(quiet=not settings.log_requests)
    if settings.workers == 1:
        serve(settings, listener, announce=announce)
    else:
        Supervisor(settings, listener).run(announce)

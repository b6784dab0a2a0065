"""A server from its settings: the socket, and one process or several."""

from __future__ import annotations

import socket

from labeltree.serving.logs import start_logs
from labeltree.serving.settings import Settings


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that what is wrong with the address is said at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None


def run(settings: Settings, listener: socket.socket) -> None:
    """Serve until a signal says to stop.

    Parameters
    ----------
    settings : Settings
    listener : socket
        What `listen` gave.

    Raises
    ------
    ModelFileError
        If a model is missing or damaged, and there is one process.
    ChildProcessError
        If worker processes cannot be kept alive.
    """
    from labeltree.serving.supervisor import Supervisor
    from labeltree.serving.worker import serve

    start_logs(quiet=not settings.log_requests)
    if settings.workers == 1:
        serve(settings, listener)
        return
    Supervisor(settings, listener).run()

"""The main program of a worker of `ProcessPool`: receives tasks, runs them, and sends what they end with."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import Any

from labeltree.engines.messages import pack, receive, send, unpack
from labeltree.engines.outcome import Outcome
from labeltree.engines.versions import own_versions


def main(first_line: str) -> None:
    """Connect as the first line of standard input says, and work until the program closes the connection."""
    threading.Thread(target=_end_with_the_program, daemon=True).start()
    connection = _connected(json.loads(first_line))
    try:
        send(connection, pack(own_versions()))
        while True:
            send(connection, _answer(receive(connection)))
    except (EOFError, OSError):
        return


def _answer(parts: list[bytearray]) -> list[memoryview]:
    """Run a task. A task or a result that cannot be pickled is an error of the task, too."""
    outcome = Outcome.of(_run, (parts,))
    try:
        return pack(outcome)
    except Exception as error:
        return pack(Outcome.failed(error))


def _run(parts: list[bytearray]) -> Any:
    run, arguments = unpack(parts)
    return run(*arguments)


def _connected(description: dict[str, Any]) -> socket.socket:
    if sys.platform == "win32":
        return socket.fromshare(bytes.fromhex(description["share"]))
    return socket.socket(fileno=description["fileno"])


def _end_with_the_program() -> None:
    """End this process as soon as the program that has started it has ended, also if it was killed."""
    os.read(0, 1)  # blocks until the program's end of the pipe is closed; sys.stdin would be locked at exit
    os._exit(1)

"""`WorkerProcess`: a process that runs one task after another, seen from the program that starts it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import Any

from labeltree.engines.messages import pack, receive, send, unpack
from labeltree.engines.outcome import Outcome
from labeltree.engines.task import Task
from labeltree.engines.versions import Versions, check_versions

#: The worker imports from where the program does, and never imports the main script, which may have no guard.
_PROGRAM = (
    "import sys; line = sys.stdin.readline(); import json; sys.path[:] = json.loads(line)['path']; "
    "from labeltree.engines.worker import main; main(line)"
)
#: How long a process may take from closing its connection to its end.
_ENDING_SECONDS = 5.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerProcess:
    """A process with a connection to it. `number` is that of the task it runs, None if it has none.

    `is_ready` is False until the process has told its versions.
    """

    def __init__(self, n_threads: int) -> None:
        self.is_ready = False
        self.number: int | None = None
        self.connection, theirs = socket.socketpair()
        environment = {name: str(n_threads) for name in _THREADS} | os.environ
        with theirs:
            # A session of its own: Ctrl-C goes to the program alone, which then ends its workers.
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,  # what the program prints may be data
                env=environment,
                start_new_session=True,
                pass_fds=() if sys.platform == "win32" else (theirs.fileno(),),
            )
            description: dict[str, Any] = {"path": sys.path}
            if sys.platform == "win32":
                description["share"] = theirs.share(self._process.pid).hex()
            else:
                description["fileno"] = theirs.fileno()
            with suppress(OSError):  # a process that is gone is noticed when it is read from
                self._stdin.write(json.dumps(description).encode() + b"\n")
                self._stdin.flush()

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    @property
    def pid(self) -> int:
        return self._process.pid

    def fileno(self) -> int:
        return self.connection.fileno()

    def give(self, number: int, task: Task) -> None:
        """Send a task. A worker that is gone is noticed when its answer is read."""
        self.number = number
        parts = pack((task.run, task.arguments))
        with suppress(OSError):
            send(self.connection, parts)

    def greet(self, versions: Versions) -> None:
        """Read the first message, the versions of the worker, and check them."""
        check_versions(versions, unpack(receive(self.connection)), "this machine")
        self.is_ready = True

    def take(self) -> Outcome:
        """Return what its task has ended with. Raise `EOFError` or `OSError` if the process is gone."""
        outcome: Outcome = unpack(receive(self.connection))
        self.number = None
        return outcome

    def status(self) -> int:
        """Return the exit status of a process that has closed its connection; negative if a signal has killed it."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(_ENDING_SECONDS)
        return self.end()

    def end(self) -> int:
        """Kill the process if it still runs, and return its exit status."""
        self._process.kill()
        self.connection.close()
        status = self._process.wait()
        with suppress(OSError):  # the line to a process that died early may still be buffered
            self._stdin.close()
        return status

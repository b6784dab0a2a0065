"""Functions that tests run as tasks."""

from __future__ import annotations

import os
import signal
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.engines import Place, Task, current_engine


def square(number: int, seconds: float = 0.0) -> NDArray[np.int64]:
    time.sleep(seconds)
    return np.full(1000, number * number)


def squares(n: int, seconds: float = 0.0) -> list[Task]:
    return [
        Task(f"the square of {number}", square, (number, seconds), cost=number % 7) for number in range(n)
    ]


def refuse(message: str) -> None:
    raise ValueError(message)


class PoliteError(Exception):
    """Cannot be unpickled: its constructor takes two arguments."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}: {remedy}")


def refuse_politely() -> None:
    raise PoliteError("no", "ask again")


def warn(message: str) -> str:
    warnings.warn(message, UserWarning, stacklevel=1)
    return message


def die(log: str, n_times: int = 1_000_000) -> int:
    """Kill this process the first times; return the number of the call."""
    n_before = append(log) - 1
    if n_before < n_times:
        os.kill(os.getpid(), signal.SIGKILL)
    return n_before


def append(log: str) -> int:
    """Add a byte to a file and return its size."""
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b".")
    size = os.fstat(descriptor).st_size
    os.close(descriptor)
    return size


def not_picklable() -> Any:
    return lambda: 0


def started(log: str, seconds: float) -> str:
    append(log)
    return slept(seconds)


def slept(seconds: float) -> str:
    began = time.monotonic()
    time.sleep(seconds)
    return f"{began} {time.monotonic()}"


def read(place: Place, name: str) -> tuple[str, str]:
    path = place.path()
    return str(path), Path(path, name).read_text()


def engine_here() -> str:
    return type(current_engine()).__name__


def environment(name: str) -> str | None:
    return os.environ.get(name)


def name_in_ray() -> str:
    """Return the name of this task on the dashboard."""
    import ray

    name: str = ray.get_runtime_context().get_task_name()
    return name


def process() -> int:
    time.sleep(0.05)
    return os.getpid()


def registered_square(number: int, folder: str) -> NDArray[np.int64]:
    """A square; meanwhile a file tells the process that computes it."""
    path = Path(folder, str(os.getpid()))
    path.touch()
    time.sleep(0.1)
    path.unlink(missing_ok=True)
    return square(number)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    """Return whether a process exists that has not ended: a dead one may wait for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]

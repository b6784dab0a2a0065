"""A process that reports figures, watched until it ends or has run too long."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Ended:
    """A process that has come to its end, or was brought to it.

    `report` is what its lines of JSON on standard output said together, `children_mb` the most memory that the
    processes it started had at one time.
    """

    exit_code: int
    timed_out: bool
    report: dict[str, Any]
    last_messages: str
    children_mb: float
    seconds_between: float | None


def run_process(
    command: Sequence[str],
    folder: Path,
    *,
    limit_s: float,
    threads: int,
    between: tuple[str, str] | None = None,
) -> Ended:
    """Run a command for `limit_s` seconds at most; its output lies in `folder`.

    `between` are two messages on standard error; the time from every first to the next second of them is added up.
    """
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        environment[name] = str(threads)
    # Into files: some write so much that whoever reads it along would take time from those who are measured.
    report, messages = folder / "report.jsonl", folder / "messages.txt"
    with open(report, "wb") as out, open(messages, "wb") as errors:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=errors,
            env=environment,
            start_new_session=True,  # so that what it starts can be stopped with it
        )
    deadline = time.monotonic() + limit_s
    stopwatch = MessageStopwatch(messages, *between) if between else None
    timed_out, children_mb = False, 0.0
    try:
        while process.poll() is None and not timed_out:
            children_mb = max(children_mb, memory_of_children(process.pid))
            if stopwatch:
                stopwatch.look()
            timed_out = time.monotonic() > deadline
            time.sleep(_POLL_SECONDS)
    finally:
        stop(process)
    return Ended(
        process.returncode,
        timed_out,
        read_report(report),
        messages.read_text(errors="replace").strip()[-2000:],
        children_mb,
        stopwatch.seconds if stopwatch else None,
    )


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all it started, if they have not ended yet."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def read_report(path: Path) -> dict[str, Any]:
    """All figures of a report; a line that was cut short is left out."""
    figures: dict[str, Any] = {}
    for line in path.read_text().splitlines():
        with suppress(json.JSONDecodeError):
            figures |= json.loads(line)
    return figures


def memory_of_children(pid: int) -> float:
    """The memory in MB that the processes below one have for themselves; 0 where there is no /proc to tell."""
    kilobytes = 0
    waiting = [pid]
    while waiting:
        # Any of them may end while it is being looked at.
        with suppress(OSError):
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                for child in map(int, (task / "children").read_text().split()):
                    waiting.append(child)
                    kilobytes += _private_kilobytes(child)
    return kilobytes / 1024


def _private_kilobytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    return 0


class MessageStopwatch:
    """The time between two messages in a growing file, to the precision of the looks at it."""

    def __init__(self, path: Path, first: str, last: str) -> None:
        self._path = path
        self._first, self._last = first.encode(), last.encode()
        self._read = 0
        self._started: float | None = None
        self.seconds: float | None = None

    def look(self) -> None:
        """Read on; to be called often."""
        now = time.monotonic()
        with open(self._path, "rb") as file:
            file.seek(self._read)
            new = file.read()
        complete = max(new.rfind(b"\n"), new.rfind(b"\r")) + 1
        self._read += complete
        for line in new[:complete].splitlines():
            if self._started is None and self._first in line:
                self._started = now
            elif self._started is not None and self._last in line:
                self.seconds = (self.seconds or 0.0) + now - self._started
                self._started = None

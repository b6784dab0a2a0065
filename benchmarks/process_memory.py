"""The memory and the CPU time of a process and of all processes that it starts, while they run."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

#: Memory that a process needs for itself, and file pages that it maps: the system takes those back when it needs them.
OWN = ("RssAnon", "RssShmem")
MAPPED = ("RssFile",)


@dataclass
class PeakMemory:
    """Looks at memory again and again, and remembers the most; a context manager.

    Attributes
    ----------
    own_mb : float
        Most anonymous and shared memory of all processes together.
    mapped_mb : float
        Most mapped file pages.
    main_mb : float
        Most anonymous and shared memory of the first process alone.
    """

    process: int = field(default_factory=os.getpid)
    every_seconds: float = 0.05
    own_mb: float = 0.0
    mapped_mb: float = 0.0
    main_mb: float = 0.0

    def __enter__(self) -> PeakMemory:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self._look()
            if self._stop.wait(self.every_seconds):
                return

    def _look(self) -> None:
        tree = process_tree(self.process)
        self.own_mb = max(self.own_mb, megabytes(tree, OWN))
        self.mapped_mb = max(self.mapped_mb, megabytes(tree, MAPPED))
        self.main_mb = max(self.main_mb, megabytes([self.process], OWN))


def process_tree(process: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    found = [process]
    for own in found:  # grows
        for tasks in Path(f"/proc/{own}/task").glob("*/children"):
            try:
                found += map(int, tasks.read_text().split())
            except OSError:  # it has ended
                continue
    return found


def megabytes(processes: Iterable[int], names: Iterable[str]) -> float:
    """Return the memory of these kinds that processes have now."""
    total = 0
    for process in processes:
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:
            continue
        sizes = dict(line.split(":", 1) for line in lines)
        total += sum(int(sizes[name].removesuffix("kB")) for name in names if name in sizes)
    return total * 1024 / 1e6  # the system counts kB of 1,024 bytes


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the CPU time of processes so far, and of their children that have ended."""
    ticks = 0
    for process in processes:
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")

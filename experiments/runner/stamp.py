"""How a page came about, as its last line says: the command, seeds, machine, duration, definition and code."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_HASHES = re.compile(r"; definition `(\w+)`, code `(\w+)`\.")


@dataclass(frozen=True)
class Stamp:
    """The hashes that tell whether a page is of the current scripts and code; see `experiments/runner/sources.py`."""

    definition: str
    code: str

    @classmethod
    def read(cls, path: Path) -> Stamp | None:
        """That of a page; None if it has none."""
        found = _HASHES.search(path.read_text())
        return cls(*found.groups()) if found else None

    def line(
        self, command: str, seeds: str, threads: int, seconds: float, machines: Sequence[str] = ()
    ) -> str:
        """What the page says; `machines` are those of its runs, if not this one."""
        where = " and on ".join(machines or [machine()])
        return (
            f"Made by `{command}`, {seeds}, {threads} {'thread' if threads == 1 else 'threads'}, on {where}; runs "
            f"took {duration(seconds)} together; definition `{self.definition}`, code `{self.code}`."
        )


def machine() -> str:
    """The processor and what it has, in a few words."""
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (OSError, StopIteration, ValueError):
        return f"{model}, {os.cpu_count()} cores"
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB"


def duration(seconds: float) -> str:
    """In two digits and the unit that fits."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.{1 if seconds < 10 * size else 0}f} {unit}"
    return f"{seconds:.0f} seconds"

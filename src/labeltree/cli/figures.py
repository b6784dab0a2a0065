"""Sizes, counts and times: measured, and as texts."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labeltree.wording import count_text


def bytes_text(n_bytes: float) -> str:
    """Return a number of bytes in three digits.

    Examples
    --------
    >>> bytes_text(999), bytes_text(23_400_000), bytes_text(1.5e9)
    ('999 B', '23.4 MB', '1.5 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} TB"


def seconds_text(seconds: float) -> str:
    """Return a duration in two digits or a few more.

    Examples
    --------
    >>> seconds_text(0.01234), seconds_text(8.04), seconds_text(754)
    ('0.012 s', '8.0 s', '12 min 34 s')
    """
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60:,} min {int(seconds) % 60} s"


def range_text(numbers: list[int], noun: str) -> str:
    """Return a number or a range of numbers with its noun.

    Examples
    --------
    >>> range_text([28, 31, 30], "node"), range_text([3, 3, 3], "level")
    ('28 to 31 nodes', '3 levels')
    """
    least, most = min(numbers), max(numbers)
    return count_text(most, noun) if least == most else f"{least:,} to {count_text(most, noun)}"


def directory_bytes(path: Path) -> int:
    """Return the size of all files of a model, without the one by which it is locked."""
    from labeltree.model_file.lock import LOCK_NAME

    files = (file for file in path.rglob("*") if file.is_file() and file.name != LOCK_NAME)
    return sum(file.stat().st_size for file in files)


def peak_memory_bytes() -> int | None:
    """Return the peak memory of this process, mapped files included; None where the system does not count it."""
    try:
        import resource
    except ImportError:  # on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Stopwatch:
    """Measures the seconds of each phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

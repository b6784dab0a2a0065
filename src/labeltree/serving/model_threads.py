"""Threads in which models answer, so that the server hears others meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from labeltree.serving.errors import Refusal

_Result = TypeVar("_Result")


class ModelThreads:
    """A pool of threads with a limit on what may wait for them.

    Parameters
    ----------
    most_busy : int
        Calls that run or wait, also those whose request was given up.
    """

    def __init__(self, most_busy: int) -> None:
        self._pool = ThreadPoolExecutor(min(8, (os.cpu_count() or 1) + 1), thread_name_prefix="model")
        self._most_busy = most_busy
        self._n_busy = 0

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function in a thread. It goes on to its end even if whoever waits is cancelled."""
        if self._n_busy >= self._most_busy:
            raise Refusal(503, "the server has too much to do: come again", headers={"Retry-After": "1"})
        self._n_busy += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(function, *arguments)
        future.add_done_callback(lambda done: self._free(loop, done))
        return await asyncio.wrap_future(future)

    def _free(self, loop: asyncio.AbstractEventLoop, done: Future[Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._count_down)

    def _count_down(self) -> None:
        self._n_busy -= 1

    def close(self) -> None:
        """Let what runs come to its end, and start nothing else."""
        self._pool.shutdown(wait=True, cancel_futures=True)

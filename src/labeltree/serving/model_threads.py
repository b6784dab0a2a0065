"""Threads in which models answer, so that the event loop stays free."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from labeltree.serving.errors import overloaded

_Result = TypeVar("_Result")


class ModelThreads:
    """A pool of threads with a maximum number of calls.

    Parameters
    ----------
    max_calls : int
        Maximum number of calls that run or wait, including those whose client is gone.
    n_threads : int, optional
        By default as many as the machine has processors, and one more.
    """

    def __init__(self, max_calls: int, n_threads: int | None = None) -> None:
        n_threads = n_threads or min(8, (os.cpu_count() or 1) + 1)
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="model")
        self._max_calls = max_calls
        self._n_calls = 0

    async def run(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        """Call a function in a thread. It runs to its end even if the caller is cancelled."""
        if self._n_calls >= self._max_calls:
            raise overloaded()
        self._n_calls += 1
        loop = asyncio.get_running_loop()

        def free(done: Future[_Result]) -> None:  # in the thread
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._count_down)

        future = self._pool.submit(function, *arguments)
        future.add_done_callback(free)
        return await asyncio.wrap_future(future)

    def _count_down(self) -> None:
        self._n_calls -= 1

    def close(self) -> None:
        """Wait for the calls that run, and cancel those that wait."""
        self._pool.shutdown(wait=True, cancel_futures=True)

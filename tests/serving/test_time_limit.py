"""`TimeLimit` stops late work and leaves everything else alone."""

from __future__ import annotations

import asyncio

import pytest

from labeltree.serving.time_limit import TimeLimit


def test_what_is_in_time_is_left_alone() -> None:
    async def quick() -> tuple[int, bool]:
        with TimeLimit(5) as limit:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        return 1, limit.is_over

    assert asyncio.run(quick()) == (1, False)


def test_what_is_late_is_stopped_at_its_next_wait() -> None:
    async def slow(done: list[str]) -> bool:
        with TimeLimit(0.01) as limit:
            done.append("begun")
            await asyncio.sleep(10)
            done.append("ended")
        done.append("after")
        return limit.is_over

    done: list[str] = []
    assert asyncio.run(slow(done))
    assert done == ["begun", "after"]


def test_errors_and_the_cancelling_of_others_pass_through() -> None:
    async def failing() -> None:
        with TimeLimit(5):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(failing())

    async def cancelled() -> None:
        async def waiting() -> None:
            with TimeLimit(5):
                await asyncio.sleep(10)

        task = asyncio.create_task(waiting())
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())

"""The time left that progress bars show."""

from __future__ import annotations

from typing import Any

import pytest
from rich.progress import Progress

from labeltree.progress import Phases, TimeLeft


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def follow(clock: Clock) -> Any:
    """Return a function that reports progress at a time, and returns what the bar then shows."""
    bars = Progress(get_time=clock, disable=True)
    report = Phases(bars).follow("training")
    (task,) = bars.tasks

    def shown(at: float, done: int, total: int | None) -> str:
        clock.now = at
        report(done, total)
        return TimeLeft().render(task).plain

    return shown


def test_nothing_is_shown_until_a_tenth_is_done(clock: Clock) -> None:
    shown = follow(clock)
    assert shown(0, 0, None) == shown(5, 0, 100) == shown(6, 9, 100) == "-:--:--"
    assert shown(15, 10, 100) == "0:01:30"
    assert shown(20, 75, 100) == "0:00:05"
    assert shown(25, 100, 100) == "0:00:00"


def test_a_step_that_counts_anew_is_timed_anew(clock: Clock) -> None:
    shown = follow(clock)
    shown(0, 0, 100)
    shown(100, 100, 100)
    assert shown(110, 1, 50) == "-:--:--"
    assert shown(130, 25, 50) == "0:00:20"

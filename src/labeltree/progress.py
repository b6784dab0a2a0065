"""Progress bars for long computations, which Ctrl-C stops."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TimeElapsedColumn
from rich.text import Text

from labeltree import _native

T = TypeVar("T")

_POLL_SECONDS = 0.1


#: No time left is estimated before this share of the work is done, and this many seconds have passed.
_LEAST_SHARE, _LEAST_SECONDS = 0.1, 1.0


class TimeLeft(ProgressColumn):
    """The time left, at the mean speed so far; dashes until that is known well enough.

    The parts of a training differ in size and the largest come first, so the speed of the first says little.
    """

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the estimate, or dashes."""
        elapsed = (task.elapsed or 0.0) - task.fields.get("since", 0.0)
        seconds = seconds_left(task.completed, task.total, elapsed)
        if seconds is None:
            return Text("-:--:--", style="progress.remaining")
        minutes, rest = divmod(int(seconds), 60)
        return Text(f"{minutes // 60}:{minutes % 60:02}:{rest:02}", style="progress.remaining")


def seconds_left(done: float, total: float | None, elapsed: float) -> float | None:
    """Return an estimate of the time left, or None if it is too early for one.

    Examples
    --------
    >>> seconds_left(50, 100, 8.0), seconds_left(1, 100, 8.0), seconds_left(50, 100, 0.1), seconds_left(9, None, 8.0)
    (8.0, None, None, None)
    """
    if not total or done < _LEAST_SHARE * total or elapsed < _LEAST_SECONDS:
        return None
    return elapsed * (total - done) / done


class Phases:
    """Runs the phases of a computation one after the other, and shows a bar for each."""

    def __init__(self, bars: Progress | None) -> None:
        self._bars = bars

    def run(self, description: str, compute: Callable[[_native.Progress], T]) -> T:
        """Call ``compute(progress)`` and return its result.

        It runs in a separate thread, so that this thread can draw the bar and handle Ctrl-C. A `KeyboardInterrupt`
        cancels the computation and is raised again when it has ended.
        """
        progress = _native.Progress()
        running = threading.Lock()  # not an event: Ctrl-C may come between the steps of its functions
        running.acquire()
        outcome: list[T] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                outcome.append(compute(progress))
            except BaseException as error:
                failure.append(error)
            finally:
                running.release()

        thread = threading.Thread(target=work, name=f"labeltree: {description}", daemon=True)
        report = self.follow(description)
        try:
            _start(thread)
            while not running.acquire(timeout=_POLL_SECONDS):
                report(progress.done, progress.total or None)
        except BaseException:
            progress.cancel()
            if thread.ident is not None:  # Ctrl-C may come before the thread starts
                _join(thread)
            failure.clear()  # the error and this list would keep each other alive, and all their variables
            raise
        thread.join()
        if failure:
            raise failure.pop()
        report(progress.total or 1, progress.total or 1)
        return outcome[0]

    def count(self, description: str, items: Iterable[T], total: int) -> Iterator[T]:
        """Yield items, and show how many of them are done."""
        report = self.follow(description)
        report(0, max(total, 1))
        for done, item in enumerate(items, start=1):
            yield item
            report(done, total)

    def follow(self, description: str) -> Callable[[int, int | None], None]:
        """Return a function to call with the amount of work done and the total, or None if it is unknown."""
        bars = self._bars
        if bars is None:
            return lambda done, total: None
        bar = bars.add_task(description, total=None, since=0.0)
        task = next(task for task in bars.tasks if task.id == bar)

        def report(done: int, total: int | None) -> None:
            # A computation of several steps counts each from 0; the speed of one says nothing about the next.
            if done < task.completed or total != task.total:
                bars.update(bar, since=task.elapsed or 0.0)
            bars.update(bar, completed=done, total=total)

        return report


def _start(thread: threading.Thread) -> None:
    """Start a thread with Ctrl-C blocked: an interrupted start would leave unknown whether the thread runs."""
    if not hasattr(signal, "pthread_sigmask"):
        thread.start()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _join(thread: threading.Thread) -> None:
    """Wait for a cancelled thread, even if Ctrl-C is pressed again.

    Native code that still runs when the interpreter ends would crash the process.
    """
    while thread.is_alive():
        with suppress(KeyboardInterrupt):
            thread.join()


@contextmanager
def phases(verbose: int) -> Iterator[Phases]:
    """Show bars on standard error: always if `verbose` is positive, never if it is negative, else on a terminal."""
    on_terminal = sys.stderr is not None and sys.stderr.isatty()  # a service may have no standard error
    if verbose < 0 or sys.stderr is None or (verbose == 0 and not on_terminal):
        yield Phases(None)
        return
    bar = ("{task.description}", BarColumn(bar_width=30), TaskProgressColumn())
    times = ("time", TimeElapsedColumn(), "left", TimeLeft())
    # Without a terminal, a bar is drawn once, when its phase ends.
    with Progress(*bar, *times, console=Console(stderr=True), transient=verbose == 0) as bars:
        yield Phases(bars)

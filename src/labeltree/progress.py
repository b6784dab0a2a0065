"""Progress bars for long computations, which Ctrl-C stops."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeElapsedColumn, TimeRemainingColumn

from labeltree import _native

T = TypeVar("T")

_POLL_SECONDS = 0.1


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
        finished = threading.Event()
        outcome: list[T] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                outcome.append(compute(progress))
            except BaseException as error:
                failure.append(error)
            finally:
                finished.set()

        thread = threading.Thread(target=work, name=f"labeltree: {description}", daemon=True)
        report = self.follow(description)
        try:
            _start(thread)
            while not finished.wait(_POLL_SECONDS):
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
        bar = bars.add_task(description, total=None)
        return lambda done, total: bars.update(bar, completed=done, total=total)


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
    times = ("time", TimeElapsedColumn(), "left", TimeRemainingColumn())
    # Without a terminal, a bar is drawn once, when its phase ends.
    with Progress(*bar, *times, console=Console(stderr=True), transient=verbose == 0) as bars:
        yield Phases(bars)

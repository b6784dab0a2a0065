"""Showing how far a long computation is, and stopping it on Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from labeltree import _native

T = TypeVar("T")

_POLL_SECONDS = 0.1


class Phases:
    """Runs the phases of a computation one after the other and shows each as a bar."""

    def __init__(self, bars: Progress | None) -> None:
        self._bars = bars

    def run(self, description: str, compute: Callable[[_native.Progress], T]) -> T:
        """Call ``compute(progress)`` and return its result.

        It runs in a thread of its own, so that this one can draw and hear Ctrl-C; a `KeyboardInterrupt` stops the
        computation and is raised again when nothing of it runs any more.
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
        bar = None if self._bars is None else self._bars.add_task(description, total=None)
        try:
            _start(thread)
            while not finished.wait(_POLL_SECONDS):
                if self._bars is not None and bar is not None:
                    self._bars.update(bar, completed=progress.done, total=progress.total or None)
        except BaseException:
            progress.cancel()
            if thread.ident is not None:  # else Ctrl-C came before there was anything to stop
                _wait_whatever_comes(thread)
            failure.clear()  # the error and this list would keep each other alive, with all that they know
            raise
        thread.join()
        if failure:
            raise failure.pop()
        if self._bars is not None and bar is not None:
            total = progress.total or 1
            self._bars.update(bar, completed=total, total=total)
        return outcome[0]

    def count(self, description: str, items: Iterable[T], total: int) -> Iterator[T]:
        """Pass items on, and show how many of them have come."""
        bar = None if self._bars is None else self._bars.add_task(description, total=max(total, 1))
        for item in items:
            yield item
            if self._bars is not None and bar is not None:
                self._bars.advance(bar)

    def follow(self, description: str) -> Callable[[int, int | None], None]:
        """A function to be told how far a phase is, and how far it has to go if that is known."""
        bars = self._bars
        if bars is None:
            return lambda done, total: None
        bar = bars.add_task(description, total=None)
        return lambda done, total: bars.update(bar, completed=done, total=total)


def _start(thread: threading.Thread) -> None:
    """Start a thread without being interrupted halfway, when nobody could tell whether it runs."""
    if not hasattr(signal, "pthread_sigmask"):
        thread.start()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait_whatever_comes(thread: threading.Thread) -> None:
    """Wait for a thread that has been told to stop, also if Ctrl-C is pressed again.

    Native code that still runs when the interpreter ends would bring the process down.
    """
    while thread.is_alive():
        with suppress(KeyboardInterrupt):
            thread.join()


@contextmanager
def phases(verbose: int) -> Iterator[Phases]:
    """Bars on standard error if it is a terminal or `verbose` is above 0; none if `verbose` is below 0."""
    on_terminal = sys.stderr is not None and sys.stderr.isatty()  # a service may have no standard error
    if verbose < 0 or sys.stderr is None or (verbose == 0 and not on_terminal):
        yield Phases(None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TextColumn("time"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    # A bar that nobody watches is drawn once, when its phase ends.
    with Progress(*columns, console=Console(stderr=True), transient=verbose == 0) as bars:
        yield Phases(bars)

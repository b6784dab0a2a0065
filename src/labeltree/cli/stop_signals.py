"""Stopping a command by SIGTERM or Ctrl-C, without the loss of its work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType, SimpleNamespace
from typing import BinaryIO, cast

from labeltree.data.lines import read_what_is_there
from labeltree.data.sources import Source, open_stream, source_name


class Stopped(BaseException):
    """Raised where a stream would read on after a signal."""


class StreamSignals:
    """Receives SIGTERM and SIGINT, and stops the command where it reads its stream.

    Examples that were read are learned before the command stops; a command that waits for more stops at once.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._is_reading = False

    @contextmanager
    def open(self, source: Source) -> Iterator[BinaryIO]:
        """Open a source, and handle the signals until it is closed: its `read` then raises `Stopped`."""
        with _handled_by(self._receive), open_stream(source) as file:
            # Streams need no more of a file than this.
            read = partial(self._read, file)
            yield cast(BinaryIO, SimpleNamespace(name=source_name(source), read=read))

    def _read(self, file: BinaryIO, n_bytes: int) -> bytes:
        """Read what has come, or wait for it until a signal comes."""
        self._is_reading = True
        try:
            if self.received is not None:  # it came since the last time
                raise Stopped
            return read_what_is_there(file, n_bytes)
        finally:
            self._is_reading = False

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number)
        if self._is_reading:
            raise Stopped


class SearchSignals:
    """Lets SIGTERM end a search for parameters as Ctrl-C does, and remembers the signal."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle the signals meanwhile; later ones end the program as usual."""
        with _handled_by(self._receive):
            yield

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number)
        raise KeyboardInterrupt


@contextmanager
def _handled_by(receive: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, receive) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""Stopping a command that reads a stream, by SIGTERM or Ctrl-C, with all that it has read still done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO, cast

from labeltree.data.lines import read_what_is_there
from labeltree.data.sources import Source, open_stream, source_name


class Stopped(BaseException):
    """Raised where a stream would read on, though a signal has asked to stop."""


class StopSignals:
    """Hears SIGTERM and SIGINT, but heeds them only where a stream is read.

    What was read is thereby worked off before the command stops, and one that waits for more stops at once.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._is_reading = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Take the signals over, and give them back."""
        before = {number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def open(self, source: Source) -> Iterator[BinaryIO]:
        """Open a source whose reading the signals stop: they raise `Stopped` there."""
        with open_stream(source) as file:
            yield cast(BinaryIO, _StoppableFile(file, source_name(source), self))

    def read(self, file: BinaryIO, n_bytes: int) -> bytes:
        """Read what is there, or wait for it until a signal comes."""
        self._is_reading = True
        try:
            if self.received is not None:  # it came since the last time
                raise Stopped
            text = read_what_is_there(file, n_bytes)
        finally:
            self._is_reading = False
        return text

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number)
        if self._is_reading:
            raise Stopped


class _StoppableFile:
    """As much of a file as streams need."""

    def __init__(self, file: BinaryIO, name: str, signals: StopSignals) -> None:
        self.name = name
        self._file = file
        self._signals = signals

    def read(self, n_bytes: int) -> bytes:
        return self._signals.read(self._file, n_bytes)

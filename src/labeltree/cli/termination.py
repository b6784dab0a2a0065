"""Ending any command by SIGTERM; apart from other signals, because the help pages wait for what it imports."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TerminationSignal:
    """Lets SIGTERM end a command as Ctrl-C does, so that it removes its temporary files; `came` remembers it."""

    def __init__(self) -> None:
        self.came = False

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Handle SIGTERM meanwhile, unless the program that calls the command does. A second one kills."""
        is_main = threading.current_thread() is threading.main_thread()
        if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTERM, self._receive)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise KeyboardInterrupt

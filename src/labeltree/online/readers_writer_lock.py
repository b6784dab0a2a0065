"""Many may read at once, or one may write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """A lock that readers share and a writer has alone.

    A writer that waits goes before readers that come later, so that a model that is always asked still learns. A
    reader must not ask for the lock again while it has it.

    Examples
    --------
    >>> lock = ReadersWriterLock()
    >>> with lock.reading():
    ...     pass
    >>> with lock.writing():
    ...     pass
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._n_reading = 0
        self._n_waiting = 0
        self._is_writing = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until nobody writes or waits to; others may read meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_writing and self._n_waiting == 0)
            self._n_reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_reading -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wait until nobody reads or writes."""
        with self._changed:
            self._n_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._is_writing and self._n_reading == 0)
                self._is_writing = True
            finally:
                self._n_waiting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._is_writing = False
                self._changed.notify_all()

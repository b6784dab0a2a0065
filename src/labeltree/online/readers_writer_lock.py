"""Many may read at once, or one may write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """A lock that readers share and a writer has alone.

    A writer that waits goes before readers that come later, so that a model that is always asked still learns. Who has
    the lock must not ask for it again: a writer that does gets a `RuntimeError`, rather than wait for itself.

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
        self._writer = 0  # the thread that writes

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Wait until nobody writes or waits to; others may read meanwhile."""
        self.check_other_thread()
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
        self.check_other_thread()
        with self._changed:
            self._n_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._is_writing and self._n_reading == 0)
                self._is_writing, self._writer = True, threading.get_ident()
            finally:
                self._n_waiting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._is_writing, self._writer = False, 0
                self._changed.notify_all()

    def check_other_thread(self) -> None:
        """Raise `RuntimeError` if it is this thread that writes."""
        if self._writer == threading.get_ident():
            raise RuntimeError(
                "a policy must not ask the model, nor teach it, while the model asks the policy"
            )

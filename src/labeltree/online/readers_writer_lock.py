"""A lock for many readers or one writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """A lock that readers share and a writer holds alone.

    A waiting writer comes before later readers, so that a model under constant load still learns. A thread that holds
    the lock must not acquire it again; a writer that does gets a `RuntimeError` instead of a deadlock.

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
        self._writer: int | None = None  # the thread that is writing

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock for reading, once no thread writes or waits to write."""
        self.check_other_thread()
        with self._changed:
            self._changed.wait_for(lambda: self._writer is None and self._n_waiting == 0)
            self._n_reading += 1
        try:
            yield
        finally:
            with self._changed:
                self._n_reading -= 1
                self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock for writing, once no other thread reads or writes."""
        self.check_other_thread()
        with self._changed:
            self._n_waiting += 1
            try:
                self._changed.wait_for(lambda: self._writer is None and self._n_reading == 0)
                self._writer = threading.get_ident()
            finally:
                self._n_waiting -= 1
        try:
            yield
        finally:
            with self._changed:
                self._writer = None
                self._changed.notify_all()

    def check_other_thread(self) -> None:
        """Raise `RuntimeError` if this thread is writing."""
        if self._writer == threading.get_ident():
            raise RuntimeError("a policy must not use or train the model that is calling it")

"""A lock for many readers or one writer."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager


class ReadersWriterLock:
    """A lock that readers share and a writer holds alone.

    A waiting writer comes before later readers, so that a model under constant load still learns. A thread that holds
    the lock must not acquire it again; a writer that does gets a `RuntimeError` instead of a deadlock.

    A fork waits until no thread writes. In the child, the lock is held only by the thread that forked.

    Examples
    --------
    >>> lock = ReadersWriterLock()
    >>> with lock.reading():
    ...     pass
    >>> with lock.writing():
    ...     pass
    """

    def __init__(self) -> None:
        # Entered itself, not through the condition: no Ctrl-C comes between the steps of a lock of C.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._readers: list[int] = []  # the threads that are reading
        self._n_waiting = 0
        self._writer: int | None = None  # the thread that is writing
        self._turns = threading.Lock()
        self._turns_of: int | None = None
        _LOCKS.add(self)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock for reading, once no thread writes or waits to write."""
        self.check_other_thread()
        thread = threading.get_ident()
        try:  # Ctrl-C may come between any two steps, also before the caller has begun
            with self._lock:
                self._changed.wait_for(lambda: self._writer is None and self._n_waiting == 0)
                self._readers.append(thread)
            yield
        finally:
            with self._lock:
                if thread in self._readers:
                    self._readers.remove(thread)
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the lock for writing, once no other thread reads or writes."""
        self.check_other_thread()
        thread = threading.get_ident()
        try:  # as in `reading`
            with self._lock:
                self._n_waiting += 1
                try:
                    self._changed.wait_for(lambda: self._writer is None and not self._readers)
                    self._writer = thread
                finally:
                    self._n_waiting -= 1
            yield
        finally:
            with self._lock:
                if self._writer == thread:
                    self._writer = None
                self._changed.notify_all()

    @contextmanager
    def turns(self) -> Iterator[None]:
        """Be the only thread that writes, in several turns; others may read between two turns."""
        self.check_other_thread()
        with self._turns:
            self._turns_of = threading.get_ident()
            try:
                yield
            finally:
                self._turns_of = None

    def check_other_thread(self) -> None:
        """Raise `RuntimeError` if this thread is writing."""
        if self._writer == threading.get_ident():
            raise RuntimeError("a policy must not use or train the model that is calling it")

    def hold_for_fork(self) -> None:
        """Let no thread begin or end to read or write, once no other thread writes."""
        self._changed.acquire()
        thread = threading.get_ident()
        self._changed.wait_for(lambda: self._writer in (None, thread))

    def release_after_fork(self, in_child: bool) -> None:
        """Undo `hold_for_fork`; in a child, forget the threads that it does not have."""
        if not in_child:
            self._changed.release()
            return
        thread = threading.get_ident()
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._readers = [reader for reader in self._readers if reader == thread]
        self._n_waiting = 0
        if self._turns_of != thread:
            self._turns, self._turns_of = threading.Lock(), None


_LOCKS: weakref.WeakSet[ReadersWriterLock] = weakref.WeakSet()
_HELD: list[ReadersWriterLock] = []
_FORKING = threading.Lock()  # two threads that fork must not wait for each other's locks


def _before_fork() -> None:
    _FORKING.acquire()
    for lock in list(_LOCKS):
        lock.hold_for_fork()
        _HELD.append(lock)


def _after_fork(in_child: bool) -> None:
    while _HELD:
        _HELD.pop().release_after_fork(in_child)
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(in_child=False),
        after_in_child=lambda: _after_fork(in_child=True),
    )

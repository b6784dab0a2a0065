"""A lock for many readers or one writer."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, cast


class ReadersWriterLock:
    """A lock that readers share and a writer holds alone.

    A waiting writer comes before later readers, so that a model under constant load still learns. A thread that holds
    the lock must not acquire it again; a writer that does gets a `RuntimeError` instead of a deadlock.

    A fork waits until no thread writes. In the child, the lock is held only by the thread that forked.

    Ctrl-C at any moment leaves the lock free. So the end of a ``with`` block calls no function of Python, which Ctrl-C
    could stop before its first step: it releases a lock of C.

    Examples
    --------
    >>> lock = ReadersWriterLock()
    >>> with lock.reading():
    ...     pass
    >>> with lock.writing():
    ...     pass
    """

    def __init__(self) -> None:
        self._entrance = threading.RLock()  # held by the one thread that waits to read or write
        self._write = threading.RLock()  # held by the thread that writes
        self._reads: dict[int, threading.RLock] = {}  # by thread, held while it reads
        self._turns = threading.RLock()
        _LOCKS.add(self)

    def reading(self) -> AbstractContextManager[None]:
        """Hold the lock for reading, once no thread writes or waits to write."""
        self.check_other_thread()
        thread = threading.get_ident()
        read = self._reads.get(thread) or self._reads.setdefault(thread, threading.RLock())
        return cast(AbstractContextManager[None], _Hold(read, self._begin_to_read))

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock for writing, once no other thread reads or writes."""
        self.check_other_thread()
        return cast(AbstractContextManager[None], _Hold(self._write, self._begin_to_write))

    def turns(self) -> AbstractContextManager[bool]:
        """Be the only thread that writes, in several turns; others may read between two turns."""
        self.check_other_thread()
        return self._turns

    def check_other_thread(self) -> None:
        """Raise `RuntimeError` if this thread is writing."""
        if cast(Any, self._write)._is_owned():  # which threading.Condition asks, too
            raise RuntimeError("a policy must not use or train the model that is calling it")

    def _begin_to_read(self, hold: _Hold) -> None:
        with self._entrance, self._write:
            hold.take()

    def _begin_to_write(self, hold: _Hold) -> None:
        with self._entrance:  # so that no thread begins to read meanwhile
            for read in list(self._reads.values()):
                with read:
                    pass
            with self._write:
                hold.take()

    def hold_for_fork(self) -> None:
        """Let no thread begin to read or write, once no other thread writes."""
        self._write.acquire()

    def release_after_fork(self, in_child: bool) -> None:
        """Undo `hold_for_fork`; in a child, forget the threads that it does not have."""
        self._write.release()
        if in_child:
            self._entrance = threading.RLock()
            thread = threading.get_ident()
            read = self._reads.get(thread)
            self._reads = {} if read is None or _is_of_another(read) else {thread: read}
            if _is_of_another(self._turns):
                self._turns = threading.RLock()


class _Hold:
    """A ``with`` block that holds a lock of C, whose own `__exit__` ends it.

    `begin` waits until the lock may be held, and then calls `take`.
    """

    __slots__ = ("__exit__", "_begin", "_is_taken", "_lock")

    def __init__(self, lock: threading.RLock, begin: Callable[[_Hold], None]) -> None:
        self._lock = lock
        self._begin = begin
        self._is_taken = False
        self.__exit__ = lock.__exit__

    def __enter__(self) -> None:
        try:
            self._begin(self)
        except BaseException:  # also Ctrl-C after `take`
            if self._is_taken:
                self._lock.release()
            raise

    def take(self) -> None:
        """Acquire the lock, which no other thread has."""
        self._is_taken = True  # no Ctrl-C comes between this and the next call
        self._lock.acquire()


def _is_of_another(lock: threading.RLock) -> bool:
    if not lock.acquire(blocking=False):
        return True
    lock.release()
    return False


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

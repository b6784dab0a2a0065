"""The lock of models that learn: Ctrl-C while a thread acquires it leaves it free."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from labeltree.online.readers_writer_lock import ReadersWriterLock


class InterruptedLock:
    """A lock that gets Ctrl-C just after it was released for the first time."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self._interrupts = True

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        if self._interrupts:
            self._interrupts = False
            raise KeyboardInterrupt


@pytest.mark.parametrize("kind", ["reading", "writing"])
def test_an_interrupted_thread_does_not_keep_the_lock(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = ReadersWriterLock()
    monkeypatch.setattr(lock, "_lock", InterruptedLock(lock._lock))
    with pytest.raises(KeyboardInterrupt), getattr(lock, kind)():
        pytest.fail("the lock was acquired")
    free = threading.Event()

    def write() -> None:
        with lock.writing():
            free.set()

    threading.Thread(target=write, daemon=True).start()
    assert free.wait(10)
    with lock.writing():  # nor does this thread believe that it writes
        pass

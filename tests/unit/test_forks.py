"""A fork while other threads ask, train and learn gives a child that asks, trains and learns."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from tests.documents import documents

from labeltree import (
    ExtremeTextClassifier,
    FastXMLClassifier,
    LabelTreeClassifier,
    OnlineLabelTreeClassifier,
)
from labeltree.online import readers_writer_lock
from labeltree.online.readers_writer_lock import ReadersWriterLock

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    # Python warns of forks with threads, which is what this is about.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

N_FORKS = 40
X, Y = documents(60, 80, 12, seed=1)
LISTS = [[int(j) for j in row.indices] for row in Y]


@contextmanager
def busy(*work: Callable[[], Any]) -> Iterator[None]:
    """Threads that do their work again and again."""
    stop = threading.Event()

    def repeat(one: Callable[[], Any]) -> None:
        while not stop.is_set():
            one()

    threads = [threading.Thread(target=repeat, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def in_child(work: Callable[[], bool], seconds: float = 60) -> None:
    """Fork; fail if the work is not done in the child within the time, or wrong."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while (waited := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"the child did not end in {seconds} seconds")
        time.sleep(0.001)
    assert os.waitstatus_to_exitcode(waited[1]) == 0


@pytest.mark.parametrize("kind", [LabelTreeClassifier, FastXMLClassifier, ExtremeTextClassifier])
def test_while_threads_predict(kind: Any) -> None:
    model = kind(random_state=0).fit(X, Y)
    row = model.model_.read(X[:1])
    search = model.make_search(3)

    def ask() -> Any:
        return model.model_.forest.top_k(row, search)[1].tolist()

    expected = ask()
    with busy(*[ask] * 6):
        for _ in range(N_FORKS):
            in_child(lambda: ask() == expected)


@pytest.mark.parametrize("kind", [LabelTreeClassifier, ExtremeTextClassifier])
def test_while_threads_train(kind: Any) -> None:
    def train() -> Any:
        fitted = kind(random_state=0, n_jobs=2).fit(X, Y)
        return fitted.predict_topk(X, k=3).probabilities.tolist()

    expected = train()
    with busy(train, train):
        for _ in range(10):
            in_child(lambda: train() == expected)


def test_while_threads_learn() -> None:
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit(X, LISTS)

    def work_on() -> bool:
        n_before = model.n_examples_
        model.partial_fit(X[:5], LISTS[:5])
        model.forget(labels=[LISTS[0][0]])
        return bool(model.n_examples_ == n_before + 5 and len(model.predict_topk(X, k=2).labels) == 60)

    with busy(
        lambda: model.partial_fit(X, LISTS), lambda: model.partial_fit(X, LISTS), lambda: model.predict(X)
    ):
        for _ in range(N_FORKS):
            in_child(work_on)


def is_free(hold: Callable[[], AbstractContextManager[Any]], seconds: float = 60) -> bool:
    """Whether another thread can hold a lock within the time."""
    free = threading.Event()

    def wait() -> None:
        with hold():
            free.set()

    threading.Thread(target=wait, daemon=True).start()
    return free.wait(seconds)


def test_a_lock_in_a_child_is_held_by_the_thread_that_forked() -> None:
    lock = ReadersWriterLock()
    reading, done = threading.Event(), threading.Event()

    def read() -> None:
        with lock.reading():
            reading.set()
            done.wait(60)

    def write() -> bool:
        with lock.turns(), lock.writing():
            return True

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert reading.wait(60)
        in_child(write)
        with lock.reading():
            in_child(lambda: is_free(lock.turns) and not is_free(lock.writing, 0.5))
        with lock.turns():
            in_child(lambda: is_free(lock.writing) and not is_free(lock.turns, 0.5))
    finally:
        done.set()
        thread.join()
    assert write()


def test_one_thread_forks_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two threads that fork wait for each other's locks."""
    errors: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", errors.append)  # for exceptions in what a fork calls
    in_child(lambda: not readers_writer_lock._FORKING.locked())
    assert errors == []
    assert not readers_writer_lock._FORKING.locked()
    readers_writer_lock._before_fork()
    try:
        assert readers_writer_lock._FORKING.locked()
    finally:
        readers_writer_lock._after_fork(in_child=False)

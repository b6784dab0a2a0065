"""A signal such as Ctrl-C stops a prediction, whichever model answers, and the training of vectors."""

import math
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents
from tests.interruptions import interruptions

from labeltree import (
    ExtremeTextClassifier,
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    mix,
)
from labeltree.progress import Phases
from labeltree.text import TextVectorizer

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(),
    reason="needs timers, and the main thread",
)

X, Y = documents(300, 400, 100, seed=2)
SECONDS = 2.0  # that a question takes


class StopError(Exception):
    pass


def interrupt(*_: Any) -> None:
    raise StopError


def interrupted_after(call: Callable[[], Any]) -> float:
    """The seconds from a call to its end, which a signal tells to come after 0.2.

    Seconds of this thread: those that it has to wait for a busy machine do not count.
    """
    before = signal.signal(signal.SIGALRM, interrupt)
    began = time.thread_time()
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        call()
    except StopError:
        return time.thread_time() - began
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return math.inf


def assert_stops(ask: Callable[[int], Callable[[], Any]]) -> None:
    """ask(n): a call that asks for n copies of some rows."""
    once = ask(1)
    once()
    began = time.thread_time()
    once()
    n = math.ceil(SECONDS / (time.thread_time() - began)) + 1
    question = ask(n)
    took = interrupted_after(question)
    assert took < SECONDS / 2, f"it took {took:.2f} s of about {SECONDS:.2f} s to stop"
    once()  # nothing is left locked or broken


MODELS: dict[str, Callable[[], Any]] = {
    "tree": lambda: LabelTreeClassifier().fit(X, Y),
    "trees in threads": lambda: LabelTreeClassifier(n_trees=2, n_jobs=2).fit(X, Y),
    "dense": lambda: LabelTreeClassifier().fit(X.toarray(), Y),
    "flat": lambda: OneVsRestClassifier().fit(X, Y),
    "softmax": lambda: HierarchicalSoftmaxClassifier().fit(X, Y),
    "examples": lambda: FastXMLClassifier(n_trees=5).fit(X, Y),
    "vectors": lambda: ExtremeTextClassifier(16).fit(X, Y),
    "online": lambda: OnlineLabelTreeClassifier().fit(X, Y),
    "mixed": lambda: mix([LabelTreeClassifier().fit(X, Y), OneVsRestClassifier().fit(X, Y)]),
}


@cache
def trained(name: str) -> Any:
    return MODELS[name]()


@pytest.mark.parametrize("question", ["top_k", "above", "pairs"])
@pytest.mark.parametrize("name", MODELS)
def test_prediction_stops(name: str, question: str) -> None:
    model = trained(name)
    forest = model.model_.forest

    def ask(n: int) -> Callable[[], Any]:
        many = sp.vstack([X] * n, format="csr")
        features = model.model_.read(many.toarray() if name == "dense" else many)
        if question == "pairs":
            rows = np.repeat(np.arange(many.shape[0], dtype=np.int64), 5)
            labels = np.tile(np.arange(0, 100, 20, dtype=np.int32), many.shape[0])
            search = model.make_search()
            return lambda: forest.pairs(features, rows, labels, search)
        search = model.make_search(3, threshold=0.05 if question == "above" else 0.0)
        return lambda: getattr(forest, question)(features, search)

    assert_stops(ask)


def test_reading_texts_stops() -> None:
    texts = ["a boat at sea near the coast of a small island " * 20] * 200
    vectorizer = TextVectorizer().fit(texts)
    assert_stops(lambda n: lambda: vectorizer.transform(texts * n))


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_training_of_vectors_stops(loss: str, n_jobs: int) -> None:
    def train(n: int) -> Callable[[], Any]:
        model = ExtremeTextClassifier(32, loss=loss, epochs=5 * n, n_jobs=n_jobs, random_state=0)
        return lambda: model.fit(X, Y)

    assert_stops(train)


def test_interrupted_phases_leave_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[Any] = []
    monkeypatch.setattr("threading.excepthook", errors.append)

    def run() -> None:
        Phases(None).run("rest", lambda progress: time.sleep(0.02))

    before = threading.active_count()
    n = 0
    for error in interruptions(lambda: run):
        n += 1
        assert error.__context__ is None
        assert threading.active_count() == before
    assert n > 5
    assert errors == []

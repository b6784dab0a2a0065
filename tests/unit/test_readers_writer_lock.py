"""The lock of models that learn: Ctrl-C at any moment leaves it free and is not lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.documents import documents
from tests.interruptions import interruptions

from labeltree import OnlineLabelTreeClassifier
from labeltree.online.readers_writer_lock import ReadersWriterLock


def is_free(lock: ReadersWriterLock) -> bool:
    free = threading.Event()

    def write() -> None:
        with lock.turns(), lock.writing():
            free.set()

    threading.Thread(target=write, daemon=True).start()
    return free.wait(60)


@pytest.mark.parametrize("kind", ["reading", "writing", "turns"])
def test_an_interrupted_thread_does_not_keep_the_lock(kind: str) -> None:
    lock = ReadersWriterLock()

    def hold() -> None:
        with getattr(lock, kind)():
            len("anything")

    n = 0
    for error in interruptions(lambda: hold):
        n += 1
        assert error.__context__ is None
        assert is_free(lock)
        with lock.turns(), lock.writing():  # nor does this thread believe that it writes
            pass
    assert n >= 4


def test_an_interrupted_model_can_learn_on() -> None:
    X, y = documents(70, 30, 8)  # two turns
    models = []

    def begin() -> Callable[[], Any]:
        classifier = OnlineLabelTreeClassifier(n_trees=2, policy="random", random_state=0)
        models.append(classifier.partial_fit(X[:1], y[:1]).growing_model())
        features, labels, weight = OnlineLabelTreeClassifier()._examples(models[-1], X, y, None)
        order = np.arange(labels.n_rows)
        return lambda: models[-1].learn(features, labels, weight, order)

    n = 0
    for _ in interruptions(begin):
        n += 1
        assert is_free(models[-1].lock)
        assert [tree.n_labels for tree in models[-1].trees] == [len(models[-1].labels)] * 2
    assert n > 50

"""More lessons than can wait are refused, and those that were not are learned."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.servers import serving, wait_until
from tests.serving.conftest import online_model
from tests.serving.lessons import example, learned, send, settings, state

from labeltree import OnlineLabelTreeClassifier
from labeltree.model_file.journal import Journal


def test_who_comes_when_the_queue_is_full_may_come_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on, write = threading.Event(), threading.Event(), Journal._write

    def write_slowly(journal: Journal, lines: bytes) -> None:
        begun.set()
        assert may_go_on.wait(60)
        write(journal, lines)

    monkeypatch.setattr("labeltree.serving.learner.MAX_WAITING", 3)
    monkeypatch.setattr(Journal, "_write", write_slowly)
    with serving(settings(path)) as (client, service), ThreadPoolExecutor(4) as threads:
        waiting = service.learners["online"]._lessons
        try:
            sent = [threads.submit(send, client, example(0))]
            assert begun.wait(60)
            for number in (1, 2, 3):  # one after the other, so that their order is known
                sent.append(threads.submit(send, client, example(number)))
                wait_until(lambda n=number: waiting.qsize() == n)  # type: ignore[misc]
            refused = [send(client, example(number)) for number in (4, 5)]
        finally:
            may_go_on.set()
        assert [answer.result().json()["n_examples"] for answer in sent] == [5, 6, 7, 8]
        for answer in refused:
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            assert answer.json() == {
                "error": {
                    "code": "overloaded",
                    "message": "too many requests wait to be learned: retry later",
                }
            }
        assert send(client, example(4)).json()["n_examples"] == 9
    expected = learned(online_model(), [example(i) for i in range(5)])
    assert state(OnlineLabelTreeClassifier.load(path)) == state(expected)

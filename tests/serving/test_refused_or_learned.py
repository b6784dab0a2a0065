"""A request that is refused leaves nothing learned, or says that it was accepted, and may be repeated with its key."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, serving, wait_until
from tests.serving.conftest import online_model
from tests.serving.lessons import LEARN, example, learned, send, settings, state

from labeltree import OnlineLabelTreeClassifier
from labeltree.model_file.journal import journal_of
from labeltree.online import journaled_model
from labeltree.serving import Limits, Service
from labeltree.serving.learner import Learner


def send_with_key(client: httpx.Client, key: str, *examples: dict[str, Any]) -> httpx.Response:
    headers = {**BEARER, "Idempotency-Key": key}
    return client.post(LEARN, json={"examples": list(examples)}, headers=headers)


@contextmanager
def writing_stopped(service: Service) -> Iterator[None]:
    """Nothing is written to the journal until this ends; the first request waits there, others behind it."""
    journal: Any = service.learners["online"]._journaled._journal
    may_go_on, write = threading.Event(), journal._write
    journal._write = lambda lines: (may_go_on.wait(60), write(lines))[1]
    try:
        yield
    finally:
        may_go_on.set()
        del journal._write


def n_examples(service: Service) -> int:
    return int(service.registry["online"].model.n_examples_)


def replayed(path: Path, folder: Path) -> dict[str, Any]:
    """What a server would have learned if this one were killed now."""
    shutil.copytree(path, folder / "copy")
    shutil.copytree(journal_of(path), folder / "copy.journal")
    with serving(settings(folder / "copy")) as (_, service):
        return state(service.registry["online"].model)


def test_a_request_whose_time_is_over_is_withdrawn_or_accepted(path: Path) -> None:
    with (
        serving(settings(path, limits=Limits(seconds=0.5))) as (client, service),
        ThreadPoolExecutor(2) as threads,
    ):
        with writing_stopped(service):
            written = threads.submit(send_with_key, client, "a", example(0))
            queue = service.learners["online"]._lessons
            wait_until(lambda: "a" in service.learners["online"]._pending and queue.empty())
            waiting = send_with_key(client, "b", example(1))
            assert waiting.status_code == 504
            assert "nothing was learned" in waiting.json()["error"]["message"]
            assert not written.done()  # nobody can tell what will become of it
        accepted = written.result()
        assert accepted.status_code == 202
        assert accepted.json()["accepted"] == 1
        assert accepted.headers["retry-after"] == "1"
        # The same request again has the result; the other one was not learned, and is now.
        wait_until(lambda: send_with_key(client, "a", example(0)).status_code == 200)
        assert send_with_key(client, "a", example(0)).json()["n_examples"] == 5
        assert send_with_key(client, "b", example(1)).json()["n_examples"] == 6
        assert state(service.registry["online"].model) == state(
            learned(online_model(), [example(0), example(1)])
        )


def test_two_requests_with_one_key_whose_time_is_over_are_both_answered(path: Path) -> None:
    with (
        serving(settings(path, limits=Limits(seconds=1.0))) as (client, service),
        ThreadPoolExecutor(3) as threads,
    ):
        learner = service.learners["online"]
        with writing_stopped(service):
            threads.submit(send, client, example(0))
            wait_until(learner._journaled.turn.locked)
            first = threads.submit(send_with_key, client, "b", example(1))
            wait_until(lambda: "b" in learner._pending)
            pending = learner._pending["b"]
            second = threads.submit(send_with_key, client, "b", example(1))
            wait_until(lambda: pending.n_clients == 2)
            for answer in (first.result(60), second.result(60)):
                assert answer.status_code == 504
                assert "nothing was learned" in answer.json()["error"]["message"]
        wait_until(lambda: n_examples(service) == 5)
        assert send_with_key(client, "b", example(1)).json()["n_examples"] == 6


def test_what_is_still_prepared_when_its_time_is_over_is_never_learned(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, prepare = threading.Event(), Learner.prepare

    def slowly(*arguments: Any) -> Any:
        time.sleep(1.0)
        lesson = prepare(*arguments)
        ended.set()
        return lesson

    monkeypatch.setattr(Learner, "prepare", slowly)
    with serving(settings(path, limits=Limits(seconds=0.3))) as (client, service):
        assert send(client, example(0)).status_code == 504
        assert ended.wait(60)
        monkeypatch.undo()
        assert send(client, example(1)).json()["n_examples"] == 5
        assert state(service.registry["online"].model) == state(learned(online_model(), [example(1)]))


def test_a_request_that_is_refused_among_others_leaves_the_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "online"
    parameters = {"weights": "hashed", "memory_mb": 0.1, "expected_labels": 4, "random_state": 0}
    OnlineLabelTreeClassifier(**parameters).partial_fit([{"a": 1.0}], [["one"]]).save(path)

    def one(label: str) -> dict[str, Any]:
        return {"text": f"word {label}", "labels": [label]}

    requests = [
        [one("one"), one("two"), one("one")],
        [one("one"), one("three"), one("four"), one("five"), one("one")],  # one label too many
        [one("two")],
        [one("six")],
        [one("three"), one("one")],
    ]
    with serving(settings(path)) as (client, service), ThreadPoolExecutor(8) as threads:
        queue = service.learners["online"]._lessons
        with writing_stopped(service):
            sent = [threads.submit(send, client, one("one"))]
            wait_until(service.learners["online"]._journaled.turn.locked)  # it is being written
            for i, request in enumerate(requests, 1):  # written together
                sent.append(threads.submit(send_with_key, client, f"key-{i}", *request))
                wait_until(lambda n=i: queue.qsize() == n)  # type: ignore[misc]
        answers = [one.result() for one in sent[1:]]
        assert [answer.status_code for answer in answers] == [200, 409, 200, 409, 200]
        assert [answer.json()["n_examples"] for answer in answers if answer.status_code == 200] == [5, 9, 11]
        refused = answers[1].json()["error"]
        assert refused["message"].startswith("examples[3] cannot be learned: ")
        assert "the 3 before it are learned" in refused["message"]
        assert refused["learned"] == 3
        nothing = answers[3].json()["error"]
        assert nothing["message"].startswith("examples[0] cannot be learned: ")
        assert nothing["learned"] == 0
        # Again, nothing more is learned, and the answer is the same.
        again = send_with_key(client, "key-2", *requests[1])
        assert (again.status_code, again.json()) == (409, answers[1].json())
        assert n_examples(service) == 11
        after = state(service.registry["online"].model)
    assert {**after, "names": None} == {**state(OnlineLabelTreeClassifier.load(path)), "names": None}


def test_a_fault_of_the_model_leaves_nothing_for_the_next_start(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError

    with serving(settings(path)) as (client, service):
        assert send(client, example(0)).status_code == 200
        monkeypatch.setattr(service.registry["online"].model, "partial_fit", fail, raising=False)
        failed = send(client, example(1))
        assert (failed.status_code, failed.json()["error"]["learned"]) == (503, 0)
        assert "examples[0] cannot be learned: MemoryError" in failed.json()["error"]["message"]
        monkeypatch.undo()
        refused = send(client, example(2))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "learning_stopped")
        assert "MemoryError" in client.get("/readyz").json()["models"]["online"]["reason"]
        assert client.post("/v1/models/online/predict", json={"text": "a"}).status_code == 200
        assert replayed(path, tmp_path) == state(learned(online_model(), [example(0)]))


def test_a_fault_leaves_nothing_of_the_requests_that_were_written_with_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(settings(path)) as (client, service), ThreadPoolExecutor(3) as threads:
        model, queue = service.registry["online"].model, service.learners["online"]._lessons
        learn = model.partial_fit

        def fail(X: Any, y: Any) -> Any:
            if "only 1" in y[0]:
                raise MemoryError
            return learn(X, y)

        monkeypatch.setattr(model, "partial_fit", fail, raising=False)
        with writing_stopped(service):
            sent = [threads.submit(send, client, example(0))]
            wait_until(service.learners["online"]._journaled.turn.locked)
            for number in (1, 2):
                sent.append(threads.submit(send, client, example(number)))
                wait_until(lambda n=number: queue.qsize() == n)  # type: ignore[misc]
        assert [one.result().status_code for one in sent] == [200, 503, 503]
        monkeypatch.undo()
        assert replayed(path, tmp_path) == state(learned(online_model(), [example(0)]))


def test_the_message_names_the_example_that_cannot_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading all rows of a request fails before any is learned."""
    with serving(settings(path)) as (client, service):
        features = service.registry["online"].model.growing_model().features
        read = features.read

        def refuse(X: Any, **options: Any) -> Any:
            if any("word2" in row for row in X):
                raise ValueError("cannot be read")
            return read(X, **options)

        monkeypatch.setattr(features, "read", refuse, raising=False)
        refused = send(client, *map(example, range(4)))
        assert refused.status_code == 409
        expected = "examples[2] cannot be learned: cannot be read; nothing was learned"
        assert refused.json()["error"] == {"code": "cannot_learn", "message": expected, "learned": 0}


# -- the key of a request ------------------------------------------------------------------------------------------


def test_a_key_makes_a_request_safe_to_repeat(path: Path, tmp_path: Path) -> None:
    with serving(settings(path, snapshot_every=3)) as (client, service):
        first = send_with_key(client, "a", example(0), example(1))
        assert first.json()["n_examples"] == 6
        again = send_with_key(client, "a", example(0), example(1))
        assert (again.status_code, again.json()) == (200, first.json())
        other = send_with_key(client, "a", example(2))
        assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
        assert send_with_key(client, "b", example(2)).json()["n_examples"] == 7
        # After snapshots, and for a server that replays the journal.
        for number in range(3, 20):
            assert send(client, example(number)).status_code == 200
        wait_until(lambda: OnlineLabelTreeClassifier.load(path).n_examples_ > 10)
        again = send_with_key(client, "a", example(0), example(1)).json()
        assert (again["learned"], again["n_examples"], again["version"]) == (2, 6, "examples-6")
        service.learners["online"]._saving.join()  # a copy must have both as they are at one moment
        shutil.copytree(path, tmp_path / "copy")
        shutil.copytree(journal_of(path), tmp_path / "copy.journal")
        expected = state(learned(online_model(), [example(i) for i in range(20)]))
        assert state(service.registry["online"].model) == expected
    for left in (path, tmp_path / "copy"):  # by a server that stopped, and by one that was killed
        for _ in range(2):
            with serving(settings(left)) as (client, service):
                again = send_with_key(client, "a", example(0), example(1)).json()
                assert (again["learned"], again["n_examples"]) == (2, 6)
                assert send_with_key(client, "b", example(0)).status_code == 422
                assert state(service.registry["online"].model) == expected


def test_a_request_that_comes_twice_at_once_is_learned_once(path: Path) -> None:
    with serving(settings(path)) as (client, service), ThreadPoolExecutor(6) as threads:
        with writing_stopped(service):
            sent = [threads.submit(send_with_key, client, "a", example(0)) for _ in range(5)]
            pending = service.learners["online"]._pending
            wait_until(lambda: "a" in pending and pending["a"].n_clients == 5)
            assert send_with_key(client, "a", example(1)).status_code == 422
        assert {one.result().json()["n_examples"] for one in sent} == {5}
        assert n_examples(service) == 5


def test_the_latest_keys_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journaled_model, "MAX_RECEIPTS", 3)
    for _ in range(2):
        with serving(settings(path)) as (client, service):
            before = n_examples(service)
            for number in range(4):
                send_with_key(client, f"key-{number}", example(number))
            n_new = n_examples(service) - before
            for number in (1, 2, 3):
                send_with_key(client, f"key-{number}", example(number))
            assert n_examples(service) - before == n_new
    assert n_new == 4  # each pushes out the next one: the first was forgotten


@pytest.mark.parametrize("key", [b"", b"two words", b"\xc3\xa9", b"x" * 256])
def test_a_key_that_is_none_is_refused(path: Path, key: bytes) -> None:
    with serving(settings(path)) as (client, service):
        headers = {
            **{name.encode(): value.encode() for name, value in BEARER.items()},
            b"Idempotency-Key": key,
        }
        answer = client.post(LEARN, json={"examples": [example(0)]}, headers=headers)
        assert answer.status_code == 422
        assert "Idempotency-Key: expected 1 to 255 printable" in answer.json()["error"]["message"]
        assert n_examples(service) == 4

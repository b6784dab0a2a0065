"""Workers come to the same version, and an answer never says so too early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, serving, wait_until
from tests.small_models import small_model

from labeltree.serving import Limits, Service, Settings, Tokens
from labeltree.serving.shared_state import SharedState

RELOAD = "/v1/models/small/reload"


class Workers:
    """Two, each with a directory of its own, so that one can be damaged."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.paths = [folder / "first", folder / "second"]
        self.save(0)
        self.shared = SharedState(["small"], 2)
        self._stack = stack
        self.clients: list[httpx.Client] = []
        self.services: list[Service] = []

    def start(self) -> None:
        worker = len(self.clients)
        limits = Limits(seconds=4)  # enough for a busy machine; an answer of 202 takes all of it
        settings = Settings({"small": self.paths[worker]}, limits=limits, tokens=Tokens([TOKEN]))
        client, service = self._stack.enter_context(serving(settings, self.shared, worker))
        self.clients.append(client)
        self.services.append(service)

    def save(self, seed: int) -> None:
        """A version of the model, the same in both directories."""
        for path in self.paths:
            small_model(seed).save(path)

    def reload(self, worker: int = 0) -> httpx.Response:
        return self.clients[worker].post(RELOAD, headers=BEARER)

    def served(self) -> list[str]:
        """The version that each answers from."""
        return [client.get("/v1/models/small").json()["version"] for client in self.clients]


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with ExitStack() as stack:
        workers = Workers(tmp_path, stack)
        workers.start()
        yield workers


def check_answer(response: httpx.Response, status: int, versions: list[str]) -> None:
    assert response.status_code == status, response.text
    assert response.json() == {
        "model": "small",
        "version": versions[0],
        "complete": status == 200,
        "workers": [{"worker": i, "version": version} for i, version in enumerate(versions)],
    }


def test_one_that_cannot_load_a_version_goes_on_with_the_one_before(workers: Workers) -> None:
    workers.start()
    (old,) = set(workers.served())
    workers.save(1)
    whole = (workers.paths[1] / "model.json").read_bytes()
    (workers.paths[1] / "model.json").write_text("{}")
    answer = workers.reload()
    new = answer.json()["version"]
    assert new != old
    check_answer(answer, 202, [new, old])
    assert workers.served() == [new, old]
    (workers.paths[1] / "model.json").write_bytes(whole)
    check_answer(workers.reload(), 200, [new, new])
    assert workers.served() == [new, new]


def test_one_that_fails_otherwise_does_not_try_for_ever(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers.start()
    (old,) = set(workers.served())
    workers.save(1)
    tried: list[str] = []

    def fail(name: str) -> Any:
        tried.append(name)
        raise MemoryError("the test has taken it all")

    monkeypatch.setattr(workers.services[1].registry, "reload", fail)
    answer = workers.reload()
    new = answer.json()["version"]
    check_answer(answer, 202, [new, old])
    monkeypatch.undo()
    check_answer(workers.reload(), 200, [new, new])
    assert tried == ["small"]
    assert 'outcome="failed"} 1' in workers.clients[0].get("/metrics").text


@pytest.mark.parametrize("late", [0, 1], ids=["the one that was asked", "another"])
def test_one_that_is_late_comes_after(workers: Workers, late: int) -> None:
    workers.start()
    (old,) = set(workers.served())
    workers.save(1)
    new = workers.services[0].registry.version_on_disk("small")
    with workers.services[late].registry._loading["small"]:  # longer than the time of the request
        check_answer(workers.reload(), 202, [old, old] if late == 0 else [new, old])
    wait_until(lambda: workers.served() == [new, new])


def test_one_that_starts_meanwhile_does_not_miss_it(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has loaded the old version when another worker is asked for the new one."""
    from labeltree.serving.service import Registry

    answers: list[httpx.Response] = []

    def load_and_wait(*arguments: Any) -> Any:
        monkeypatch.undo()
        registry = Registry(*arguments)
        workers.save(1)
        answers.append(workers.reload())
        return registry

    monkeypatch.setattr("labeltree.serving.service.Registry", load_and_wait)
    workers.start()
    new = answers[0].json()["version"]
    assert (answers[0].status_code, answers[0].json()["complete"]) == (202, False)
    wait_until(lambda: workers.served() == [new, new])


def test_two_that_are_asked_at_once_come_to_the_same(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is asked for a newer version when the first has loaded one, but has told nobody yet."""
    workers.start()
    first = workers.services[0].registry
    reload = first.reload
    answers: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: answers.append(workers.reload(1)))

    def load_and_wait(name: str) -> Any:
        monkeypatch.undo()
        loaded = reload(name)
        workers.save(2)
        asking.start()
        wait_until(lambda: workers.shared.n_requests("small") == 1)
        return loaded

    workers.save(1)
    monkeypatch.setattr(first, "reload", load_and_wait)
    answers.append(workers.reload(0))
    asking.join()
    newest = first.version_on_disk("small")
    for answer in answers:
        check_answer(answer, 200, [newest, newest])
    assert workers.served() == [newest, newest]

"""The clients ask what they are told, read the answers, and ask again only where that is right."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import TOKEN, serving

from labeltree.serving import (
    AsyncClient,
    Client,
    ServiceError,
    ServiceUnavailableError,
    Settings,
    Tokens,
    client_calls,
)
from labeltree.serving.client_calls import LabelCount, Tag

ROW = {"indices": [1], "values": [1.0]}


class Waiting:
    """An `AsyncClient` with the methods of a `Client`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._new = lambda: AsyncClient(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            async def asked() -> Any:
                async with self._new() as client:
                    return await getattr(client, name)(*arguments, **options)

            return asyncio.run(asked())

        return call


@pytest.fixture(params=[Client, Waiting], ids=["sync", "async"])
def make(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes clients, of either kind, that are closed when the test ends."""
    with ExitStack() as stack:

        def client(*arguments: Any, **options: Any) -> Any:
            made = request.param(*arguments, **options)
            return stack.enter_context(made) if isinstance(made, Client) else made

        yield client


def test_everything_can_be_asked(make: Any, models: dict[str, Path], tmp_path: Path) -> None:
    import shutil

    shutil.copytree(models["online"], tmp_path / "online")
    paths = {**models, "online": tmp_path / "online"}
    with serving(Settings(paths, tokens=Tokens([TOKEN]), learn=True)) as (http, _):
        client = make(str(http.base_url), token=TOKEN)
        described = {model.name: model for model in client.models()}
        assert described["online"].learns
        assert described["small"].n_labels == 12
        (tags,) = client.predict("tags", ["the sea"], k=2)
        assert isinstance(tags[0], Tag)
        assert tags[0].label == "sea"
        assert client.predict("small", rows=[ROW], k=1, allow={"läbel 2"})[0][0].label == "läbel 2"
        assert client.predict("online", features=[{"cat": 1.0}], deny=["sea"], threshold=0.01)
        weighted = client.predict("numbers", rows=[ROW], k=3, label_weight={20: 0.0})
        assert weighted[0][-1].label == 20
        assert client.explain("tags", "the sea", label="sea", n_features=1)["highlights"]
        assert client.explain("small", row=ROW, label="läbel 2")["label"] == "läbel 2"
        assert client.labels("small", "LABEL 11") == [
            LabelCount("läbel 11", client.labels("small", "11")[0].count)
        ]
        assert client.reload("small").complete
        assert client.learn("online", [{"text": "a dog", "labels": ["dog"]}]) == 5
        with pytest.raises(ServiceError, match="there is no model of this name") as raised:
            client.predict("fish", ["a"])
        assert (raised.value.status, raised.value.code) == (404, "no_such_model")
        with pytest.raises(ServiceError, match=r"texts\[0\]: ") as raised:
            client.predict("tags", [3])
        assert raised.value.status == 422
        with pytest.raises(ServiceError) as raised:
            make(str(http.base_url)).reload("small")
        assert raised.value.status == 401


def transport(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.MockTransport:
    return httpx.MockTransport(answer)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long clients would have waited."""
    waited: list[float] = []
    wait = client_calls.seconds_to_wait

    def no_time(retry_after: str | None, attempt: int) -> float:
        waited.append(wait(retry_after, attempt))
        return 0.0

    monkeypatch.setattr(client_calls, "seconds_to_wait", no_time)
    return waited


def test_questions_are_asked_again_when_the_server_says_so(make: Any, waits: list[float]) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if len(asked) < 3:
            body = {"error": {"code": "overloaded", "message": "come again"}}
            return httpx.Response(503, json=body, headers={"Retry-After": "7"})
        return httpx.Response(200, json={"models": []})

    assert make("http://x", transport=transport(answer)).models() == []
    assert asked == ["/v1/models"] * 3
    assert waits == [7.0, 7.0]


def test_questions_are_asked_again_when_nobody_answers(make: Any, waits: list[float]) -> None:
    n_asked = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal n_asked
        n_asked += 1
        raise httpx.ConnectError("refused")

    with pytest.raises(ServiceUnavailableError, match="there was no answer: refused") as raised:
        make("http://x", transport=transport(answer), retries=2).predict("pets", ["a"])
    assert n_asked == 3
    assert raised.value.status == 0
    assert waits == [0.1, 0.2]


def test_a_reload_is_never_sent_twice(make: Any, waits: list[float]) -> None:
    n_asked = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal n_asked
        n_asked += 1
        return httpx.Response(503, json={"error": {"code": "overloaded", "message": "come again"}})

    with pytest.raises(ServiceUnavailableError, match="come again"):
        make("http://x", transport=transport(answer)).reload("pets")
    assert n_asked == 1
    assert waits == []


def test_examples_are_sent_again_with_the_same_key_until_they_are_learned(
    make: Any, waits: list[float]
) -> None:
    refused = {"error": {"code": "busy", "message": "come again"}}
    accepted = {"model": "pets", "accepted": 0, "message": "on disk"}
    answers = [(503, refused), (504, refused), (507, refused), (202, accepted), (200, {"n_examples": 7})]
    keys, bodies = [], []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        bodies.append(request.content)
        if len(keys) == 1:
            raise httpx.ReadError("the connection was lost")
        status, body = answers[len(keys) - 2]
        return httpx.Response(status, json=body)

    client = make("http://x", transport=transport(answer), retries=5)
    assert client.learn("pets", [{"text": "purrs", "labels": ["cat"]}]) == 7
    assert len(keys) == 6
    assert len(set(keys)) == len(set(bodies)) == 1
    assert len(waits) == 5


def test_every_call_has_a_key_of_its_own_unless_one_is_given(make: Any) -> None:
    keys = []

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        return httpx.Response(200, json={"n_examples": 7})

    client = make("http://x", transport=transport(answer))
    for key in (None, None, "mine"):
        assert client.learn("pets", [], key=key) == 7
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_examples_that_are_accepted_and_never_learned_in_time_are_an_error(
    make: Any, waits: list[float]
) -> None:
    accepted = {"model": "pets", "accepted": 0, "message": "on disk"}
    client = make("http://x", transport=transport(lambda request: httpx.Response(202, json=accepted)))
    with pytest.raises(ServiceUnavailableError, match="on disk") as raised:
        client.learn("pets", [])
    assert (raised.value.status, raised.value.code) == (202, "accepted")


def test_names_cannot_lead_elsewhere(make: Any) -> None:
    seen: list[bytes] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(200, json={"predictions": []})

    make("http://x", transport=transport(answer)).predict("../a b?c#d", ["x"])
    assert seen == [b"/v1/models/..%2Fa%20b%3Fc%23d/predict"]


def test_answers_of_others_are_errors(make: Any) -> None:
    client = make("http://x", transport=transport(lambda request: httpx.Response(502, text="<html>")))
    with pytest.raises(ServiceError, match="the server gave no reason") as raised:
        client.models()
    assert raised.value.status == 502


def test_only_what_is_given_is_sent(make: Any) -> None:
    bodies: list[Any] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json={"predictions": []})

    make("http://x", transport=transport(answer)).predict("pets", ["x"])
    assert bodies == [{"texts": ["x"], "k": 5, "threshold": 0.0}]


def test_both_clients_can_be_asked_the_same() -> None:
    for name, method in inspect.getmembers(Client, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(method) == inspect.signature(getattr(AsyncClient, name))


def test_errors_survive_pickling() -> None:
    error = pickle.loads(pickle.dumps(ServiceUnavailableError(503, "overloaded", "come again")))
    assert str(error) == "come again (overloaded, status 503)"


def test_without_its_package_the_client_says_which_extra_to_install() -> None:
    source = (
        "import sys; sys.modules['httpx'] = None\n"
        "try:\n    from labeltree.serving import Client\n"
        "except ImportError as error:\n    print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
    assert told.strip() == (
        "labeltree.serving.Client needs httpx, which is not installed: pip install 'labeltree[serve]'"
    )

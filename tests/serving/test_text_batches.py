"""Requests that arrive together are read as one batch, by models that prefer batches."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, serving, wait_until
from tests.serving.conftest import LABELS, SENTENCES
from tests.serving.test_answers import predictions_of
from tests.serving.test_metrics import numbers

import labeltree
from labeltree import LabelTreeClassifier
from labeltree.model.model import Model
from labeltree.serving import Limits, Service, Settings, Tokens
from labeltree.serving.metrics import Metrics
from labeltree.serving.model_threads import ModelThreads
from labeltree.serving.registry import ServedModel
from labeltree.serving.text_batches import MAX_TEXTS, TextBatches
from labeltree.text import Tagger

PREDICT = "/v1/models/tags/predict"
UNREADABLE = "unreadable"


@dataclass(frozen=True, eq=False)
class SlowModel(Model):
    """Remembers the texts of each call that reads texts, and waits in it until `may_read` is set."""

    calls: list[list[str]] = field(default_factory=list)
    may_read: threading.Event = field(default_factory=threading.Event)

    def read_texts(self, texts: Any) -> Any:
        self.calls.append(list(texts))
        assert self.may_read.wait(60)
        if UNREADABLE in texts:
            raise ValueError("a text cannot be read")
        return Model.read_texts(self, texts)


class BatchModel(SlowModel):
    """Prefers batches."""

    @property
    def prefers_batches(self) -> bool:
        return True


def slow(kind: type[SlowModel], model: Any) -> SlowModel:
    """Make a trained model slow."""
    trained = model.model_
    made = kind(**{one.name: getattr(trained, one.name) for one in fields(Model)})
    model.adopt(made)
    return made


class Asking:
    """A server with a slow model, and clients of it, each with a connection and a thread of its own."""

    def __init__(
        self, client: httpx.Client, service: Service, model: SlowModel, pool: ThreadPoolExecutor
    ) -> None:
        self.client, self.service, self.model = client, service, model
        self.url = str(client.base_url)
        self._pool = pool

    def ask(self, **body: Any) -> Future[httpx.Response]:
        return self._pool.submit(httpx.post, self.url + PREDICT, json=body, timeout=60)

    def begin(self, **body: Any) -> Future[httpx.Response]:
        """Ask, and wait until the model reads the texts."""
        n_calls = len(self.model.calls)
        asked = self.ask(**body)
        wait_until(lambda: len(self.model.calls) > n_calls)
        return asked

    def queue(self, **body: Any) -> Future[httpx.Response]:
        """Ask while a batch is read, and wait until the request waits for the next one."""
        n_before = self.n_waiting
        asked = self.ask(**body)
        wait_until(lambda: self.n_waiting > n_before)
        return asked

    @property
    def n_waiting(self) -> int:
        return sum(map(len, list(self.service._batches._waiting.values())))


@contextmanager
def asking(path: Path, kind: type[SlowModel] = BatchModel, **limits: Any) -> Iterator[Asking]:
    settings = Settings({"tags": path}, limits=Limits(**limits), tokens=Tokens([TOKEN]))
    with ThreadPoolExecutor(16) as pool, serving(settings) as (client, service):
        model = slow(kind, service.registry["tags"].model)
        try:
            yield Asking(client, service, model, pool)
        finally:
            model.may_read.set()


@pytest.fixture
def path(models: dict[str, Path]) -> Path:
    return models["tags"]


def statuses(*asked: Future[httpx.Response]) -> list[int]:
    return [one.result().status_code for one in asked]


def test_requests_that_wait_are_read_together_and_answered_each_by_itself(path: Path) -> None:
    bodies: list[dict[str, Any]] = [
        {"text": SENTENCES[0], "k": 1},
        {"texts": SENTENCES[1:], "k": 3},
        {"text": SENTENCES[3], "k": 4, "deny": ["cat"]},
        {"text": SENTENCES[2], "threshold": 0.3, "allow": ["sea", "boat"]},
        {"texts": SENTENCES[:2], "k": 2, "label_weight": "propensity"},
    ]
    with asking(path) as server:
        first = server.begin(**bodies[0])
        others = [server.queue(**body) for body in bodies[1:]]
        assert server.model.calls == [SENTENCES[:1]]
        server.model.may_read.set()
        answers = [asked.result().json() for asked in (first, *others)]
        assert server.model.calls == [
            SENTENCES[:1],
            [*SENTENCES[1:], SENTENCES[3], SENTENCES[2], *SENTENCES[:2]],
        ]
        found = numbers(server.client)
    model = Tagger.load(path)
    for body, answer in zip(bodies, answers, strict=True):
        options = {name: value for name, value in body.items() if not name.startswith("text")}
        assert answer["predictions"] == predictions_of(model, body.get("texts") or [body["text"]], **options)
    assert found['labeltree_batches_total{model="tags"}'] == 2
    assert found['labeltree_batch_texts_total{model="tags"}'] == 8
    assert found['labeltree_rows_total{model="tags"}'] == 8
    assert found['labeltree_requests_total{route="/v1/models/{name}/predict",status="200"}'] == 5


def test_the_time_of_a_batch_is_shared_by_its_texts(path: Path) -> None:
    model = Tagger.load(path).classifier_
    made = slow(BatchModel, model)
    made.may_read.set()
    served, sizes = ServedModel("tags", model, "1"), (1, 2, 5)

    async def read() -> list[Any]:
        batches = TextBatches(ModelThreads(2), Metrics(["tags"]))
        return await asyncio.gather(*(batches.read(served, ["a boat"] * size) for size in sizes))

    shares = [seconds / size for (_, seconds), size in zip(asyncio.run(read()), sizes, strict=True)]
    assert made.calls == [["a boat"] * 8]
    assert shares == pytest.approx([shares[0]] * 3)


def test_the_time_of_a_request_is_logged_and_counted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with asking(path) as server:
        first = server.begin(text="a boat")
        others = [server.queue(texts=["a cat"] * n) for n in (1, 2)]
        server.model.may_read.set()
        assert statuses(first, *others) == [200, 200, 200]
        seconds = numbers(server.client)['labeltree_model_seconds_total{model="tags"}']
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    logged = [line for line in lines if line["route"].endswith("predict")]
    assert sorted(line["rows"] for line in logged) == [1, 1, 2]
    assert all(0 < line["model_ms"] <= line["ms"] for line in logged)
    assert sum(line["model_ms"] for line in logged) == pytest.approx(seconds * 1000, abs=0.1)


def test_models_that_do_not_prefer_batches_read_every_request_by_itself(path: Path) -> None:
    with asking(path, SlowModel) as server:
        first, second = server.begin(text="a boat"), server.begin(text="a cat")  # both at once
        assert server.model.calls == [["a boat"], ["a cat"]]
        assert server.n_waiting == 0
        server.model.may_read.set()
        assert statuses(first, second) == [200, 200]
        assert numbers(server.client)['labeltree_batches_total{model="tags"}'] == 0


def test_a_batch_has_a_maximum_and_large_requests_are_not_joined(path: Path) -> None:
    sizes = [40, MAX_TEXTS - 41, 1, 1, MAX_TEXTS, 2]
    with asking(path) as server:
        first = server.begin(text="a boat")
        others = [server.queue(texts=["a cat"] * size) for size in sizes]
        large = server.begin(texts=["a boat"] * (MAX_TEXTS + 1))  # waits for nobody
        server.model.may_read.set()
        assert statuses(first, large, *others) == [200] * 8
        assert [len(answer.result().json()["predictions"]) for answer in others] == sizes
        assert [len(texts) for texts in server.model.calls] == [1, MAX_TEXTS + 1, MAX_TEXTS, 1, MAX_TEXTS, 2]


def test_an_unreadable_text_does_no_harm_to_other_requests(path: Path) -> None:
    with asking(path) as server:
        first = server.begin(text="a boat")
        others = [server.queue(text=text) for text in (SENTENCES[0], UNREADABLE, SENTENCES[1])]
        server.model.may_read.set()
        assert statuses(first, *others) == [200, 200, 500, 200]
        joined = [SENTENCES[0], UNREADABLE, SENTENCES[1]]
        assert server.model.calls == [["a boat"], joined, *([text] for text in joined)]
        assert statuses(server.ask(text=UNREADABLE), server.ask(text="a cat")) == [500, 200]
    model = Tagger.load(path)
    for asked, text in ((others[0], SENTENCES[0]), (others[2], SENTENCES[1])):
        assert asked.result().json()["predictions"] == predictions_of(model, [text])


def test_requests_that_are_refused_do_no_harm_to_others(path: Path) -> None:
    with asking(path) as server:
        first = server.begin(text="a boat")
        unknown = server.queue(text="a cat", allow=["fish"])
        good = server.queue(text="a boat")
        fields = server.ask(text={"title": "a cat"})
        assert statuses(fields) == [422]  # at once
        server.model.may_read.set()
        assert statuses(first, unknown, good) == [200, 422, 200]
        assert server.model.calls == [["a boat"], ["a cat", "a boat"]]


def test_a_client_that_goes_away_does_no_harm(path: Path) -> None:
    with asking(path) as server:
        first = server.begin(text="a boat")
        body = json.dumps({"text": "a storm"}).encode()
        head = f"POST {PREDICT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(
            (server.client.base_url.host, server.client.base_url.port or 0)
        ) as gone:
            gone.sendall(head + body)
            wait_until(lambda: server.n_waiting == 1)
        second = server.queue(text="a cat")
        server.model.may_read.set()
        assert statuses(first, second) == [200, 200]
        wait_until(lambda: server.service.metrics.in_flight == 0)
        assert statuses(server.ask(text="a boat")) == [200]


def test_requests_whose_time_is_over_are_not_read(path: Path) -> None:
    with asking(path, seconds=1.0) as server:
        first, second = server.begin(text="a boat"), server.queue(text="a cat")
        assert statuses(first, second) == [504, 504]
        assert server.n_waiting == 0
        third = server.queue(text="a storm")
        server.model.may_read.set()
        assert statuses(third) == [200]
        assert server.model.calls == [["a boat"], ["a storm"]]
        assert not server.service._batches._waiting


def test_a_batch_is_refused_if_all_threads_are_busy(path: Path) -> None:
    with asking(path, seconds=0.5, in_flight=1, client_share=1.0) as server:
        assert statuses(server.begin(texts=["a boat"] * (MAX_TEXTS + 1))) == [
            504
        ]  # its thread cannot be stopped
        assert statuses(server.ask(text="a cat")) == [503]
        server.model.may_read.set()
        wait_until(lambda: statuses(server.ask(text="a cat")) == [200])


def test_nothing_is_lost_when_the_server_stops(path: Path) -> None:
    def release(server: Asking) -> None:
        wait_until(lambda: not is_listening(server.client))
        server.model.may_read.set()

    # Not `asking`, which lets the model read before the server is told to stop.
    with ThreadPoolExecutor(16) as pool, serving(Settings({"tags": path})) as (client, service):
        server = Asking(client, service, slow(BatchModel, service.registry["tags"].model), pool)
        asked = [server.begin(text="a boat"), *(server.queue(text="a cat") for _ in range(3))]
        released = pool.submit(release, server)
    assert statuses(*asked) == [200] * 4
    assert server.model.calls == [["a boat"], ["a cat"] * 3]
    released.result()


def is_listening(client: httpx.Client) -> bool:
    try:
        socket.create_connection((client.base_url.host, client.base_url.port or 0)).close()
    except ConnectionRefusedError:
        return False
    return True


def test_a_batch_belongs_to_one_version(tmp_path: Path) -> None:
    path = tmp_path / "tags"
    Tagger(LabelTreeClassifier(random_state=0)).fit(SENTENCES, LABELS).save(path)
    with asking(path) as server:
        old = server.client.get("/v1/models/tags").json()["version"]
        asked = [server.begin(text="a boat"), server.queue(text="a cat")]
        Tagger(LabelTreeClassifier(random_state=0)).fit(SENTENCES, LABELS[::-1]).save(path)
        new = server.client.post("/v1/models/tags/reload", headers=BEARER).json()["version"]
        loaded = slow(BatchModel, server.service.registry["tags"].model)
        loaded.may_read.set()
        assert (
            server.ask(text="a storm").result().json()["version"] == new
        )  # does not wait for the old version
        server.model.may_read.set()
        assert [one.result().json()["version"] for one in asked] == [old, old]
        assert (server.model.calls, loaded.calls) == ([["a boat"], ["a cat"]], [["a storm"]])
        wait_until(lambda: not server.service._batches._waiting)  # the old version is let go


def test_a_mix_prefers_batches_if_a_member_does(path: Path) -> None:
    members = [Tagger.load(path), Tagger.load(path)]
    assert not labeltree.mix(members).model_.prefers_batches
    made = slow(BatchModel, members[1].classifier_)
    made.may_read.set()
    mix = labeltree.mix(members)
    assert mix.model_.prefers_batches
    served = ServedModel("tags", mix, "1")

    async def read() -> list[Any]:
        batches = TextBatches(ModelThreads(2), Metrics(["tags"]))
        return await asyncio.gather(*(batches.read(served, [text]) for text in SENTENCES))

    for text, (features, _) in zip(SENTENCES, asyncio.run(read()), strict=True):
        assert predictions_of(mix, features) == predictions_of(mix, [text])


def test_requests_are_given_up_when_threads_are_closed(path: Path) -> None:
    model = Tagger.load(path).classifier_
    slow(BatchModel, model).may_read.set()
    may_end = threading.Event()

    async def close() -> list[Any]:
        threads = ModelThreads(10, 1)
        batches = TextBatches(threads, Metrics(["tags"]))
        busy = asyncio.create_task(threads.run(may_end.wait, 20))
        served = ServedModel("tags", model, "1")
        reading = [asyncio.create_task(batches.read(served, ["a boat"]))]
        while threads._n_calls < 2:
            await asyncio.sleep(0)
        reading.append(asyncio.create_task(batches.read(served, ["a cat"])))
        await asyncio.sleep(0)
        closing = asyncio.create_task(asyncio.to_thread(threads.close))
        outcomes = await asyncio.gather(*reading, return_exceptions=True)
        may_end.set()
        await asyncio.gather(busy, closing)
        assert not batches._waiting
        return outcomes

    assert [type(outcome) for outcome in asyncio.run(close())] == [asyncio.CancelledError] * 2

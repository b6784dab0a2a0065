"""The fast lane answers as the usual way does, and leaves to it all that is unusual."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import TOKEN, serving
from tests.serving.conftest import LIMITS

from labeltree.serving import Settings, Tokens
from labeltree.serving.fast_lane import FastLane

HEAD = b"POST /v1/models/tags/predict HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: one\r\n"
GOOD: list[Any] = [
    {"text": "The sea in a storm"},
    {"text": "", "k": 2},
    {"texts": ["A boat"], "threshold": 0.2},
    {"text": "a cat", "deny": ["cat"], "k": 100},
    {"text": "a cat", "label_weight": {"sea": 3.0}},
    {"rows": [{"indices": [0], "values": [1.0]}]},
]
USUAL: list[Any] = [
    {"text": "a cat", "k": 101},
    {"text": "a cat", "k": 0},
    {"text": "a cat", "k": 5000},
    {"texts": ["a cat", "a boat"]},
    {"text": "a cat", "deny": ["nothing"]},
    {"text": "a cat", "more": 1},
    {"text": {"title": "a cat"}},
    {"text": "sea " * 600},
    {"text": "sea", "deny": ["cat"] * 1000},
    [],
]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the fast lane answered, for each request that it was asked."""
    found: list[bool] = []
    answer = FastLane.answer

    def noted(lane: FastLane, *request: Any) -> bytes | None:
        content = answer(lane, *request)
        found.append(content is not None)
        return content

    monkeypatch.setattr(FastLane, "answer", noted)
    return found


def exchanged(client: httpx.Client, *parts: bytes) -> bytes:
    """Send bytes in parts and return the whole answer."""
    with socket.create_connection(
        (client.base_url.host, client.base_url.port or 80), timeout=60
    ) as connection:
        for part in parts:
            connection.sendall(part)
        found = b""
        while (length := re.search(rb"content-length: (\d+)\r\n", found)) is None or len(
            found.partition(b"\r\n\r\n")[2]
        ) < int(length[1]):
            received = connection.recv(65536)
            assert received, found
            found += received
    return found


def request(body: bytes, *lines: bytes) -> bytes:
    return (
        HEAD + b"".join(line + b"\r\n" for line in lines) + b"Content-Length: %d\r\n\r\n" % len(body) + body
    )


@pytest.mark.parametrize("body", [*GOOD, *USUAL])
def test_both_ways_answer_with_the_same_bytes(
    client: httpx.Client, answered: list[bool], body: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json.dumps(body).encode()
    for _ in range(2):  # the first answer tells that the model is fast
        exchanged(client, request(b'{"text": "sea"}'))
    answered.clear()
    fast = exchanged(client, request(content))
    assert answered == [body in GOOD]
    monkeypatch.setattr(FastLane, "answer", lambda *_: None)
    assert exchanged(client, request(content)) == fast


@pytest.mark.parametrize(
    ("line", "is_fast"),
    [
        (b"Content-Type: application/json; charset=utf-8", True),
        (b"X-Forwarded-For: 10.0.0.1", True),
        (b"Content-Type: text/plain", False),
        (b"Content-Encoding: gzip", False),
        (b"Origin: https://example.org", False),
        (b"X-Request-Id: two", False),
        (b"Host: elsewhere.example", False),
    ],
)
def test_unusual_heads_go_the_usual_way(
    client: httpx.Client, answered: list[bool], line: bytes, is_fast: bool
) -> None:
    for _ in range(2):
        exchanged(client, request(b'{"text": "sea"}'))
    answered.clear()
    exchanged(client, request(b'{"text": "sea"}', line))
    assert answered == [is_fast]


def test_connections_that_close_and_bodies_in_parts_are_not_held(
    client: httpx.Client, answered: list[bool]
) -> None:
    whole = request(b'{"text": "sea"}')
    assert exchanged(client, whole[:-4], whole[-4:]).startswith(b"HTTP/1.1 200")
    answered.clear()
    for lines in ((b"Connection: close",), (b"Expect: 100-continue",)):
        assert b'{"model":"tags"' in exchanged(client, request(b'{"text": "sea"}', *lines))
    assert True not in answered


def test_requests_are_counted_and_need_their_token(models: dict[str, Path], answered: list[bool]) -> None:
    settings = Settings({"tags": models["tags"]}, limits=LIMITS, tokens=Tokens([TOKEN], for_all=True))
    with serving(settings) as (client, service):
        token = b"Authorization: Bearer " + TOKEN.encode()
        for _ in range(4):
            assert exchanged(client, request(b'{"text": "sea"}', token)).startswith(b"HTTP/1.1 200")
        assert exchanged(client, request(b'{"text": "sea"}')).startswith(b"HTTP/1.1 401")
        text = service.metrics.text()
    assert answered[-2:] == [True, False]
    assert 'labeltree_requests_total{route="/v1/models/{name}/predict",status="200"} 4' in text
    assert 'labeltree_rows_total{model="tags"} 4' in text
    assert "labeltree_requests_in_flight 0" in text


def test_a_damaged_model_is_refused(models: dict[str, Path], answered: list[bool]) -> None:
    with serving(Settings({"tags": models["tags"]})) as (client, service):
        for _ in range(3):
            exchanged(client, request(b'{"text": "sea"}'))
        next(iter(service.registry)).is_damaged = True
        assert exchanged(client, request(b'{"text": "sea"}')).startswith(b"HTTP/1.1 503")
    assert answered[-2:] == [True, False]

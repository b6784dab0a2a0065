"""Clients that send or read too slowly, or have too many connections, are cut off, and others are answered meanwhile.

With both parsers that uvicorn has: httptools, and h11 where there is no httptools.
"""

from __future__ import annotations

import json
import logging
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import serving, wait_until

from labeltree.serving import Limits, Service, Settings, protocol

PREDICT = "/v1/models/small/predict"
#: Short, so that tests are.
SHORT: dict[str, Any] = {"head_seconds": 0.5, "stall_seconds": 0.5, "bytes_per_second": 1e6}
BODY = json.dumps({"rows": [{"indices": [1], "values": [1.0]}]}).encode()
LARGE = json.dumps({"rows": [{"indices": [1], "values": [1.0]}] * 1000, "k": 100}).encode()


@pytest.fixture(params=["httptools", "h11"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "h11":
        monkeypatch.setattr(protocol, "HttpToolsProtocol", None)
    return str(request.param)


@pytest.fixture
def server(parser: str, models: dict[str, Path]) -> Iterator[tuple[httpx.Client, Service]]:
    with serving(Settings({"small": models["small"]}, limits=Limits(**SHORT))) as (client, service):
        yield client, service


def connect(client: httpx.Client, sent: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
    assert client.base_url.port is not None
    place = (client.base_url.host, client.base_url.port)
    connection = socket.create_connection(place, timeout=60, source_address=(address, 0))
    connection.sendall(sent)
    return connection


def head(length: int, path: str = PREDICT) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n".encode()


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection, which it must."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize(
    "sent", [b"", b"G", b"GET /healthz HTTP/1.1\r\nX-Slow: "], ids=["nothing", "a byte", "half"]
)
def test_heads_that_do_not_come_are_not_waited_for(server: tuple[httpx.Client, Service], sent: bytes) -> None:
    with connect(server[0], sent) as connection:
        assert received(connection) == b""
    assert server[0].get("/healthz").status_code == 200


def test_a_second_head_is_not_waited_for_either(server: tuple[httpx.Client, Service]) -> None:
    with connect(server[0], head(len(BODY)) + BODY) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        received(connection)


def test_a_head_that_drips_is_cut_off(server: tuple[httpx.Client, Service]) -> None:
    with connect(server[0], b"GET /healthz HTTP/1.1\r\nX-Slow: ") as connection:
        until = time.monotonic() + 60
        with suppress(ConnectionResetError, BrokenPipeError):
            while time.monotonic() < until:
                connection.sendall(b"a")
                time.sleep(0.02)
        assert time.monotonic() < until


def test_bodies_that_stall_or_drip_are_given_up(server: tuple[httpx.Client, Service]) -> None:
    client, service = server
    with connect(client, head(100) + b"{") as connection:
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the body is too slow: expected 1e+06 bytes a second" in answer
    with connect(client, head(100_000)) as connection:  # always some bytes, but never enough
        connection.settimeout(0.02)
        answer, until = b"", time.monotonic() + 60
        with suppress(ConnectionResetError, BrokenPipeError):
            while not answer and time.monotonic() < until:
                connection.sendall(b" ")
                with suppress(TimeoutError):
                    answer = connection.recv(65536)
        assert time.monotonic() < until
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert service.metrics.in_flight == 0


def test_a_body_that_comes_in_parts_is_taken(server: tuple[httpx.Client, Service]) -> None:
    with connect(server[0], head(len(LARGE))) as connection:
        for begin in range(0, len(LARGE), 10_000):
            connection.sendall(LARGE[begin : begin + 10_000])
            time.sleep(0.01)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_answers_that_nobody_reads_are_dropped(
    server: tuple[httpx.Client, Service], caplog: pytest.LogCaptureFixture
) -> None:
    client, service = server
    place = (client.base_url.host, client.base_url.port)
    request, until = head(len(LARGE)) + LARGE, time.monotonic() + 60
    logging.getLogger("labeltree.serving").addHandler(caplog.handler)
    try:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(place)
            connection.setblocking(False)
            rest = request
            with suppress(ConnectionResetError, BrokenPipeError):
                while time.monotonic() < until:
                    try:
                        rest = rest[connection.send(rest) :] or request
                    except BlockingIOError:
                        time.sleep(0.01)
            assert time.monotonic() < until
        wait_until(lambda: service.metrics.in_flight == 0)
    finally:
        logging.getLogger("labeltree.serving").removeHandler(caplog.handler)
    assert {"event": "closed connections", "slow reader": 1} in [record.args for record in caplog.records]
    assert client.get("/healthz").status_code == 200


def test_answers_that_are_read_slowly_are_complete(server: tuple[httpx.Client, Service]) -> None:
    client, service = server
    rows = [{"indices": [1], "values": [1.0]}] * 1000
    n_labels = len(service.registry["small"].model.classes_)
    body = json.dumps({"rows": rows, "k": n_labels}).encode()
    expected = client.post(PREDICT, content=body)
    begin = head(len(body)).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with connect(client, begin + body) as connection:
        parts = []
        while part := connection.recv(20_000):
            parts.append(part)
            time.sleep(0.001)
    assert b"".join(parts).endswith(expected.content)


def test_an_address_has_only_its_share_of_connections(parser: str, models: dict[str, Path]) -> None:
    limits = Limits(connections=10, client_share=0.5)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, _):
        others = [connect(client, address="127.0.0.2") for _ in range(8)]
        refused = [received(connection) for connection in others[5:]]
        for answer in refused:
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after: 1" in answer
            assert b"at most 5 connections from one address; behind a proxy start" in answer
        for _ in range(5):  # another address is answered
            assert is_answered(client, "127.0.0.3")
        for connection in others:
            connection.close()
        wait_until(lambda: is_answered(client, "127.0.0.2"))


def is_answered(client: httpx.Client, address: str) -> bool:
    sent = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with connect(client, sent, address) as connection:
        return received(connection).startswith(b"HTTP/1.1 200")


def test_a_full_server_closes_the_connection_that_is_idle_longest(
    parser: str, models: dict[str, Path]
) -> None:
    limits = Limits(connections=4, client_share=1.0)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, _):
        silent = [connect(client, b"GET /") for _ in range(4)]
        assert is_answered(client, "127.0.0.1")
        assert received(silent[0]) == b""
        silent[1].settimeout(0.1)
        with pytest.raises(TimeoutError):
            silent[1].recv(1)
        for connection in silent:
            connection.close()


def test_connections_at_work_are_not_closed_for_others(parser: str, models: dict[str, Path]) -> None:
    limits = Limits(connections=4, client_share=1.0)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, _):
        at_work = [connect(client, head(len(BODY)) + BODY[:-1]) for _ in range(4)]
        with connect(client) as connection:
            assert b"too many connections: retry later" in received(connection)
        for connection in at_work:
            connection.sendall(BODY[-1:])
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.close()


def test_an_address_has_only_its_share_of_requests(models: dict[str, Path]) -> None:
    limits = Limits(in_flight=4, client_share=0.5)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, service):
        model: Any = service.registry["small"].model
        predict_topk, may_end = model.predict_topk, threading.Event()
        model.predict_topk = lambda *a, **o: (may_end.wait(60), predict_topk(*a, **o))[1]
        two = json.dumps({"rows": [{"indices": [1], "values": [1.0]}] * 2}).encode()
        at_work = [connect(client, head(len(two)) + two, "127.0.0.2") for _ in range(2)]
        wait_until(lambda: service.metrics.in_flight == 2)
        with connect(client, head(len(two)) + two, "127.0.0.2") as connection:
            assert b"at most 2 requests at once from one address: retry later" in connection.recv(65536)
        assert client.get("/v1/models").status_code == 200
        may_end.set()
        for connection in at_work:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.close()


def test_an_address_has_only_its_share_of_memory_for_bodies(models: dict[str, Path]) -> None:
    limits = Limits(in_flight=4, body_bytes=1_000_000, client_share=0.5)
    with serving(Settings({"small": models["small"]}, limits=limits)) as (client, _):
        begun = [connect(client, head(1_000_000), "127.0.0.2") for _ in range(3)]
        for connection in begun:
            with suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(b" " * 900_000)  # two of them are within the share
        ready, _, _ = select.select(begun, [], [], 60)
        assert b"too many large bodies at once: retry later" in received(ready[0])
        for connection in begun:
            connection.close()
        wait_until(lambda: client.post(PREDICT, content=LARGE).status_code == 200)

"""Requests that no decent client sends are refused or cut off, and the server answers others as before."""

from __future__ import annotations

import gzip
import json
import logging
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, serving, wait_until

from labeltree.serving import Limits, Service, Settings, Tokens

PREDICT = "/v1/models/online/predict"
LIMITS = Limits(body_bytes=100_000, rows=50, text_chars=2000, seconds=0.5)


@pytest.fixture(scope="module")
def server(models: dict[str, Path]) -> Iterator[tuple[httpx.Client, Service]]:
    """One that does not wait long."""
    with serving(Settings(models, limits=LIMITS, tokens=Tokens([TOKEN]))) as (client, service):
        yield client, service


@pytest.fixture(autouse=True)
def is_unhurt(server: tuple[httpx.Client, Service]) -> Iterator[None]:
    """Whatever was sent, the next request is answered, and nothing is left at work."""
    yield
    client, service = server
    assert client.post(PREDICT, json={"text": "a boat"}).status_code == 200
    wait_until(lambda: not service.metrics.in_flight)


@pytest.fixture
def client(server: tuple[httpx.Client, Service]) -> httpx.Client:
    return server[0]


def connect(client: httpx.Client) -> socket.socket:
    assert client.base_url.port is not None
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=60)


def head(*lines: str) -> bytes:
    return "\r\n".join([f"POST {PREDICT} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def answer_to(client: httpx.Client, sent: bytes) -> bytes:
    """All that comes back until the server closes the connection, or has waited long enough."""
    with connect(client) as connection:
        connection.sendall(sent)
        return received(connection)


def received(connection: socket.socket) -> bytes:
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass  # what came before it counts
    return b"".join(parts)


RAW = {
    "a huge length": (head("Content-Length: 99999999999999"), b"413"),
    "a length beyond all integers": (head("Content-Length: " + "9" * 400), b"4"),
    "a length of 5,000 digits": (head("Content-Length: " + "0" * 5000 + "9" * 18), b"413"),
    "a length that is a huge number": (head("Content-Length: " + "9" * 5000), b"4"),
    "a small length of 5,000 digits": (
        head("Content-Length: " + "0" * 5000 + "2", "Connection: close") + b"{}",
        b"422",
    ),
    "a negative length": (head("Content-Length: -5"), b"400"),
    "two lengths": (head("Content-Length: 2", "Content-Length: 50") + b"{}", b"400"),
    "a length and chunks": (head("Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n", b"4"),
    "chunks of no number": (head("Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n", b"400"),
    "a chunk of too many bytes": (
        head("Transfer-Encoding: chunked") + b"fffffff\r\n" + b" " * 200_000,
        b"413",
    ),
    "a header with a line break in it": (head("X-Evil: a\nb: c", "Content-Length: 2") + b"{}", b"4"),
    "a null byte in a header": (head("X-Evil: a\0b", "Content-Length: 2") + b"{}", b"400"),
    "a null byte in the path": (b"GET /v1/models/sm\0all HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
    "an unknown method": (b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"4"),
    "a huge header": (head("X-Large: " + "a" * 100_000), b"431"),
    "a huge header in parts": (head("X-Large: " + "a" * 1_000_000), b"431"),
    "a huge header without an end": (b"GET / HTTP/1.1\r\nX-Large: " + b"a" * 400_000, b"431"),
    "many headers": (head(*[f"X-{i}: a" for i in range(200)]), b"431"),
    "a huge address": (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"414"),
    "another host": (b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", b"421"),
    "two hosts": (
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"400",
    ),
    "two tokens": (
        head("Authorization: Bearer x", f"Authorization: Bearer {TOKEN}", "Content-Length: 2") + b"{}",
        b"400",
    ),
    "two keys": (head("Idempotency-Key: a", "Idempotency-Key: b", "Content-Length: 2") + b"{}", b"400"),
    "another protocol": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100, b"400"),
}


@pytest.mark.parametrize(("sent", "status"), RAW.values(), ids=RAW)
def test_what_is_no_decent_http_is_refused(client: httpx.Client, sent: bytes, status: bytes) -> None:
    answer = answer_to(client, sent)
    assert answer.startswith(b"HTTP/1.1 " + status), answer[:200]
    assert b"Traceback" not in answer


BODIES: dict[str, tuple[bytes, int]] = {
    "invalid UTF-8": (b'{"text": "\xc3\x28"}', 400),
    "an overlong null": (b'{"text": "\xc0\x80"}', 400),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), 400),
    "a byte order mark": (b"\xef\xbb\xbf" + b'{"text": "a"}', 400),
    "half of a pair": (b'{"text": "\\udc00\\ud800"}', 400),
    "half of a pair as a name": (b'{"features": [{"\\ud800": 1}]}', 400),
    "deep lists": (b'{"text": ' + b"[" * 40_000 + b"]" * 40_000 + b"}", 400),
    "deep objects": (b'{"a":' * 15_000 + b"1" + b"}" * 15_000, 400),
    "a number too large": (b'{"text": "a", "threshold": 1e999}', 422),
    "a number of many digits": (b'{"text": "a", "k": ' + b"9" * 50_000 + b"}", 400),
    "a boolean for a number": (b'{"text": "a", "k": true}', 422),
    "a field twice": (b'{"text": "a", "k": 1, "k": 0}', 422),
    "a field of Python's": (b'{"text": "a", "__class__": {}}', 422),
    "two documents": (b'{"text": "a"}{"text": "a"}', 400),
    "something after the end": (b'{"text": "a"}\0', 400),
    "a null byte in a text": (b'{"text": "a\\u0000b"}', 200),
    "controls in a text": (b'{"text": "\\u202e\\u0007\\u001b[31m"}', 200),
}


@pytest.mark.parametrize(("body", "status"), BODIES.values(), ids=BODIES)
def test_bodies_that_are_no_questions_are_refused(client: httpx.Client, body: bytes, status: int) -> None:
    response = client.post(PREDICT, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    assert len(response.content) < 2000


BOMB = gzip.compress(json.dumps({"text": "a" * 5_000_000}).encode(), 1)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "GZip, gzip"])
def test_compressed_bodies_are_not_unpacked(client: httpx.Client, encoding: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    response = client.post(PREDICT, content=BOMB, headers=headers)
    assert response.status_code == 415, response.text
    assert f"Content-Encoding: '{encoding}'" in response.json()["error"]["message"]
    assert response.headers["accept-encoding"] == "identity"


NAMES = [
    "..%2f..%2fetc%2fpasswd",
    "..",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%5c..%5cwindows",
    "online%00",
    "online%00.labeltree",
    "ONLINE",
    "%EF%BD%8Fnline",  # a wide o, which NFKC makes an o
    "onl%C4%B1ne",  # an i without a dot
    "online%20",
    "online%2F",
    "online;x=1",
    "%ff%fe",
    "file:%2f%2f%2fetc%2fpasswd",
    "x" * 20_000,
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:30])
@pytest.mark.parametrize("what", ["predict", "reload"])
def test_names_lead_only_to_models(client: httpx.Client, name: str, what: str) -> None:
    path = f"/v1/models/{name}/{what}"
    body = b'{"text": "a"}'
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: {BEARER['Authorization']}"]
    lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    answer = answer_to(client, "\r\n".join(lines).encode() + body)
    assert answer[9:12] in (b"400", b"404", b"405", b"414"), answer[:200]
    assert b"root:" not in answer


@pytest.mark.parametrize("query", ["%00", "%ff", "a" * 60_000, "%F0%9F%92%A9" * 300, "%ED%A0%80"])
def test_labels_can_be_searched_for_anything(client: httpx.Client, query: str) -> None:
    answer = answer_to(
        client,
        f"GET /v1/models/small/labels?query={query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode(),
    )
    assert answer[9:12] in (b"200", b"400", b"414", b"422"), answer[:200]


def test_fields_behind_a_body_are_no_headers(client: httpx.Client) -> None:
    sent = head("Transfer-Encoding: chunked", "Connection: close").replace(b"/predict ", b"/learn ")
    sent += b"2\r\n{}\r\n0\r\n"
    assert answer_to(client, sent + b"\r\n").startswith(b"HTTP/1.1 401 ")
    assert answer_to(client, sent + f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()).startswith(
        b"HTTP/1.1 401 "
    )


def test_requests_may_come_before_the_answers(client: httpx.Client) -> None:
    body = b'{"text": "a boat"}'
    one = head(f"Content-Length: {len(body)}") + body
    last = head(f"Content-Length: {len(body)}", "Connection: close") + body
    with connect(client) as connection:
        connection.sendall(one * 9 + last)
        answers = received(connection)
    assert answers.count(b"HTTP/1.1 200 OK") == 10


@pytest.mark.parametrize("n_before", [1, 3])
def test_rubbish_after_a_request_is_not_taken_for_its_answer(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, n_before: int
) -> None:
    """Requests at work when the connection is closed end without a fault."""
    body = b'{"text": "a boat"}'
    answer = answer_to(client, (head(f"Content-Length: {len(body)}") + body) * n_before + b"rubbish\r\n\r\n")
    assert not answer.startswith(b"HTTP/1.1 400 ")
    answer = answer_to(client, head("Transfer-Encoding: chunked") + b"5\r\n{    \r\nzz\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    client.get("/healthz")  # when it is answered, the others have ended
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_a_refusal_does_not_let_a_body_pass_for_a_request(client: httpx.Client) -> None:
    """What is hidden in a body that was refused unread is never answered."""
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for sent in (
        head("Content-Length: 200000") + hidden * 10,
        head("Connection: close", "Content-Type: text/plain", f"Content-Length: {len(hidden)}") + hidden,
    ):
        answer = answer_to(client, sent)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert b"alive" not in answer


def drip(connection: socket.socket, data: bytes, pause: float = 0.02) -> bytes:
    """Send byte by byte, until an answer comes."""
    connection.settimeout(pause)
    for byte in data:
        try:
            connection.sendall(bytes([byte]))
            found = connection.recv(65536)
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return b""
        connection.settimeout(60)
        return found + received(connection)
    raise AssertionError("the server waits for ever")


@pytest.mark.parametrize(
    "begin",
    [head("Content-Length: 1000"), head("Transfer-Encoding: chunked") + b"3e8\r\n"],
    ids=["length", "chunk"],
)
def test_a_body_that_drips_is_cut_off(client: httpx.Client, begin: bytes) -> None:
    with connect(client) as connection:
        connection.sendall(begin)
        answer = drip(connection, b" " * 1000)  # which takes 20 seconds
    assert answer.startswith(b"HTTP/1.1 408 ")


def n_answered(client: httpx.Client, status: int) -> int:
    """How many questions have been answered with a status, by the server's own counters."""
    line = rf'labeltree_requests_total{{route="/v1/models/{{name}}/predict",status="{status}"}} '
    found = re.search(re.escape(line) + r"(\d+)", client.get("/metrics").text)
    return int(found[1]) if found else 0


def test_chunks_without_an_end_are_cut_off(client: httpx.Client) -> None:
    before = n_answered(client, 413)
    with connect(client) as connection:
        connection.sendall(head("Transfer-Encoding: chunked"))
        with suppress(ConnectionResetError, BrokenPipeError):  # it is closed while this still sends
            for _ in range(1000):
                connection.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        answer = received(connection)
    # The answer may be lost with the connection, but there was one, and nothing else came.
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413 ")
    wait_until(lambda: n_answered(client, 413) == before + 1)


@pytest.mark.parametrize("begin", [b"0\r\nX-Large: ", b"1;"], ids=["trailer", "extension"])
def test_what_is_beside_the_chunks_is_limited(client: httpx.Client, begin: bytes) -> None:
    with connect(client) as connection:
        connection.sendall(head("Transfer-Encoding: chunked") + begin)
        n_sent = 0
        with suppress(ConnectionResetError, BrokenPipeError):
            while n_sent < 100_000_000:
                connection.sendall(b"a" * 100_000)
                n_sent += 100_000
        assert n_sent < 100_000_000


def test_a_refused_body_is_not_read(client: httpx.Client) -> None:
    """Neither the body that nobody may send, nor the one of a wrong type, nor that for another host."""
    for path, line in (
        ("/v1/models/online/learn", "X-None: 1"),
        (PREDICT, "Content-Type: text/plain"),
        (PREDICT, "Content-Encoding: gzip"),
        ("/healthz", "X-None: 1"),
    ):
        with connect(client) as connection:
            lines = [f"POST {path} HTTP/1.1", "Host: localhost", line, "Content-Length: 90000", "", ""]
            connection.sendall("\r\n".join(lines).encode())
            answer = received(connection)  # ends, because the server closes the connection
            assert answer.startswith(b"HTTP/1.1 4")
            assert b"connection: close" in answer


def test_pipelines_are_limited(client: httpx.Client) -> None:
    with connect(client) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3000)
        assert received(connection).count(b"HTTP/1.1 200") < 3000


def test_many_that_only_connect_do_not_keep_others_out(client: httpx.Client) -> None:
    silent: list[Any] = [connect(client) for _ in range(200)]
    try:
        for connection in silent[::2]:
            connection.sendall(b"POST / HTTP/1.1\r\nX-Slow: ")  # and the head never ends
        started = time.monotonic()
        assert client.post(PREDICT, json={"text": "a"}).status_code == 200
        assert time.monotonic() - started < 0.8 * Limits.head_seconds  # before they are cut off
    finally:
        for connection in silent:
            connection.close()

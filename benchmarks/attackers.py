"""Attacks on a server, each with nothing but sockets: what `benchmarks.attacks` runs, and tests reuse.

python -m benchmarks.attackers ATTACK PORT SECONDS
"""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

ADDRESS = "127.0.0.2"
PREDICT = "/v1/models/words/predict"
LEARN = "/v1/models/words/learn"
MEGABYTE = 1 << 20


def connect(port: int, timeout: float = 5.0) -> socket.socket:
    """Connect from the attacker's address."""
    return socket.create_connection(("127.0.0.1", port), timeout, source_address=(ADDRESS, 0))


def head(path: str, *lines: str) -> bytes:
    """The head of a POST request."""
    return "\r\n".join(
        [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *lines, "", ""]
    ).encode()


def send_until_closed(connection: socket.socket, part: bytes, most: int, until: float) -> int:
    """Send a part again and again, and return the number of bytes that were accepted."""
    sent = 0
    with suppress(OSError):
        while sent < most and time.monotonic() < until:
            sent += connection.send(part)
    return sent


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not closed the connection; what it sent is dropped."""
    with suppress(BlockingIOError):
        try:
            connection.setblocking(False)
            while connection.recv(65536):
                pass
        except ConnectionError:
            pass
        return False
    return True


def many(port: int, n: int, sent: bytes) -> list[socket.socket]:
    """Open connections and send the same on each."""
    connections = []
    for _ in range(n):
        with suppress(OSError):
            connection = connect(port)
            connections.append(connection)
            connection.sendall(sent)
    return connections


def watched(connections: list[socket.socket], until: float) -> str:
    """Wait, and tell how many connections remain."""
    time.sleep(max(0.0, until - time.monotonic()))
    return f"{sum(map(is_open, connections))} of {len(connections)} open"


def huge_head(port: int, until: float) -> str:
    """One header of 100 MB."""
    with connect(port, 600) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Large: ")
        sent = send_until_closed(connection, b"a" * 65536, 100 * MEGABYTE, time.monotonic() + 600)
    return f"{sent / MEGABYTE:.1f} MB taken"


def huge_trailer(port: int, until: float) -> str:
    """One header of 100 MB after the last chunk of a body."""
    with connect(port, 600) as connection:
        connection.sendall(head(PREDICT, "Transfer-Encoding: chunked") + b"0\r\nX-Large: ")
        sent = send_until_closed(connection, b"a" * 65536, 100 * MEGABYTE, time.monotonic() + 600)
    return f"{sent / MEGABYTE:.1f} MB taken"


def half_heads(port: int, until: float) -> str:
    """1,000 connections with half of a head each."""
    return watched(many(port, 1000, b"POST / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "), until)


def half_bodies(port: int, until: float) -> str:
    """100 connections with one byte of a body each."""
    return watched(many(port, 100, head(PREDICT, "Content-Length: 1000") + b"{"), until)


def full_bodies(port: int, until: float) -> str:
    """100 connections with all but the last byte of a body of 8 MB."""
    body = b" " * (8 * MEGABYTE - 1)
    return watched(many(port, 100, head(PREDICT, f"Content-Length: {len(body) + 1}") + body), until)


def unread_answers(port: int, until: float) -> str:
    """100 connections that ask for 1,000 labels of 1,000 texts, and never read."""
    body = json.dumps({"texts": ["word1"] * 1000, "k": 1000}).encode()
    sent = head(PREDICT, f"Content-Length: {len(body)}") + body
    return watched(many(port, 100, sent), until)


def unread_allowed_answers(port: int, until: float) -> str:
    """100 connections that ask for as many labels as a server should allow, and never read."""
    body = json.dumps({"texts": ["word1"] * 100, "k": 1000}).encode()
    sent = head(PREDICT, f"Content-Length: {len(body)}") + body
    return watched(many(port, 100, sent), until)


def unread_pipelines(port: int, until: float) -> str:
    """20 connections that send requests as fast as they can, and never read."""
    requests = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
    connections = many(port, 20, b"")
    while time.monotonic() < until:
        _, ready, _ = select.select([], connections, [], 0.1)
        for connection in ready:
            connection.setblocking(False)
            try:
                connection.send(requests)
            except BlockingIOError:
                continue
            except OSError:
                connections.remove(connection)
        time.sleep(0.001)
    return f"{len(connections)} of 20 open"


def posting(body: bytes) -> Callable[[int, float], str]:
    """Four connections that post the same body again and again."""
    request = head(PREDICT, f"Content-Length: {len(body)}") + body

    def attack(port: int, until: float) -> str:
        statuses: list[str] = []

        def post() -> None:
            while time.monotonic() < until:
                try:
                    with connect(port, 60) as connection:
                        connection.sendall(request)
                        statuses.append(connection.recv(65536)[9:12].decode())
                except OSError:
                    statuses.append("closed")

        threads = [threading.Thread(target=post) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ", ".join(f"{statuses.count(status)} × {status}" for status in sorted(set(statuses)))

    return attack


def filled(begin: bytes, unit: bytes, end: bytes) -> bytes:
    """A body of 8 MB, the most that is accepted, with as many units as fit."""
    n_units = (8 * MEGABYTE - len(begin) - len(end)) // (len(unit) + 1)
    return begin + b",".join([unit] * n_units) + end


def refused_bodies(port: int, until: float) -> str:
    """20 connections that send 10 GB each to where they need a token."""
    sent = [0] * 20

    def send(number: int) -> None:
        with suppress(OSError), connect(port) as connection:
            connection.sendall(head(LEARN, "Content-Length: 10000000000"))
            sent[number] = send_until_closed(connection, b"a" * MEGABYTE, 10**10, until)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(len(sent))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(sent) / MEGABYTE:,.0f} MB taken"


ATTACKS: dict[str, Callable[[int, float], str]] = {
    "a huge head": huge_head,
    "a huge trailer": huge_trailer,
    "half heads": half_heads,
    "half bodies": half_bodies,
    "full bodies": full_bodies,
    "unread answers": unread_answers,
    "unread answers, allowed": unread_allowed_answers,
    "unread pipelines": unread_pipelines,
    "many rows": posting(filled(b'{"rows":[', b'{"indices":[],"values":[]}', b"]}")),
    "many mistakes": posting(filled(b'{"rows":[', b"{}", b"]}")),
    "many lists": posting(filled(b'{"x":[', b"[]", b"]}")),
    "many labels": posting(filled(b'{"text":"a","allow":[', b'"a"', b"]}")),
    "many fields": posting(
        b'{"text":"a",' + b",".join(b'"%d":1' % number for number in range(600_000)) + b"}"
    ),
    "a huge row": posting(
        b'{"rows":[{"indices":[%s],"values":[%s]}]}'
        % (b",".join(b"%d" % i for i in range(600_000)), b",".join([b"1.234"] * 600_000))
    ),
    "refused bodies": refused_bodies,
}


if __name__ == "__main__":
    print("begun", flush=True)
    print(json.dumps(ATTACKS[sys.argv[1]](int(sys.argv[2]), time.monotonic() + float(sys.argv[3]))))

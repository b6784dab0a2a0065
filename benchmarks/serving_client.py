"""Asks a server without a pause over several connections, and reports how that went.

python -m benchmarks.serving_client 127.0.0.1 8000 requests.jsonl --seconds 5

A process of its own, so that it takes no time of the server's interpreter. It speaks just enough HTTP over asyncio's
transports: httpx takes several times longer for a request than the server does.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

#: Before anything is counted.
WARM_UP_SECONDS = 1.0

#: A connection that could not be made is tried again after this.
RETRY_SECONDS = 0.02


@dataclass
class Tally:
    """What came of the requests."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    longest_gap: float = 0.0
    last_answer: float = 0.0

    def answered(self, status: int, asked: float) -> None:
        now = time.perf_counter()
        self.seconds.append(now - asked)
        self.statuses[status] += 1
        self.longest_gap = max(self.longest_gap, now - self.last_answer)
        self.last_answer = now


class Connection(asyncio.Protocol):
    """Sends the next request as soon as the one before it is answered."""

    def __init__(self, requests: Iterator[bytes], tally: Tally) -> None:
        self._requests, self._tally = requests, tally
        self._received = b""
        self._asked = 0.0
        self.is_at_work = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        request = next(self._requests, None)
        self.is_at_work = request is not None
        if request is None:
            self._transport.close()
            return
        self._asked = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end or len(body) < content_length(head):
            return
        self._received = b""
        self._tally.answered(int(head[9:12]), self._asked)
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if self.is_at_work:
            self._tally.failures[type(error).__name__ if error else "closed before the answer"] += 1
        if not self.ended.done():
            self.ended.set_result(None)


def content_length(head: bytes) -> int:
    """How long the body is that comes after a head."""
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    if not found:
        raise ValueError(f"expected an answer that says how long it is, got {head[:200]!r}")
    return int(rest.partition(b"\r\n")[0])


def read_requests(path: Path) -> list[bytes]:
    """Requests as they go over the wire, from lines of JSON with method, path and, perhaps, body."""
    requests = []
    for line in path.read_text().splitlines():
        asked = json.loads(line)
        body = asked.get("body", "").encode()
        head = f"{asked.get('method', 'POST')} {asked['path']} HTTP/1.1\r\nHost: localhost\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        requests.append(head.encode() + body)
    return requests


async def ask(host: str, port: int, requests: list[bytes], connections: int, seconds: float) -> Tally:
    """Send requests over several connections for `seconds` seconds."""
    until = time.perf_counter() + seconds
    tally = Tally(last_answer=time.perf_counter())

    def stream(begin: int) -> Iterator[bytes]:
        for request in itertools.islice(itertools.cycle(requests), begin, None):
            if time.perf_counter() > until:
                return
            yield request

    async def keep_asking(begin: int) -> None:
        wanted = stream(begin)
        while time.perf_counter() < until:
            try:
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(wanted, tally), host, port
                )
            except OSError as error:
                tally.failures[type(error).__name__] += 1
                await asyncio.sleep(RETRY_SECONDS)
            else:
                await connection.ended

    await asyncio.gather(*(keep_asking(i * len(requests) // connections) for i in range(connections)))
    return tally


def report(tally: Tally, seconds: float, cpu_seconds: float) -> dict[str, Any]:
    """What the process prints."""
    milliseconds = np.array(tally.seconds) * 1000
    return {
        "requests": len(tally.seconds),
        "seconds": seconds,
        "per_second": len(tally.seconds) / seconds,
        "p50_ms": float(np.quantile(milliseconds, 0.5)),
        "p99_ms": float(np.quantile(milliseconds, 0.99)),
        "longest_gap_ms": tally.longest_gap * 1000,
        "statuses": {str(status): n for status, n in sorted(tally.statuses.items())},
        "failures": dict(tally.failures),
        "client_cpu_share": cpu_seconds / seconds,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving_client", description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("requests", type=Path)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    requests = read_requests(options.requests)
    loop = uvloop.new_event_loop()

    def run(seconds: float) -> Tally:
        return loop.run_until_complete(
            ask(options.host, options.port, requests, options.connections, seconds)
        )

    run(WARM_UP_SECONDS)
    print("begun", flush=True)
    started, cpu = time.perf_counter(), time.process_time()
    tally = run(options.seconds)
    print(json.dumps(report(tally, time.perf_counter() - started, time.process_time() - cpu)))
    loop.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())

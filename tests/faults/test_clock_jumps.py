"""The wall clock jumps by hours and years while a server runs: only the times in its log follow."""

from __future__ import annotations

import ast
import json
import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers import BEARER, ServerProcess

import labeltree
from labeltree import OnlineLabelTreeClassifier

HOUR = 3600
YEAR = 365 * 24 * HOUR
PREDICT = "/v1/models/online/predict"
SOURCES = Path(labeltree.__file__).parent
#: Files that may ask for the time of day: they print it.
WITH_TIME_OF_DAY = {"serving/logs.py", "serving/registry.py", "cli/evaluation_report.py"}


class Clock:
    """The wall clock of other processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(struct.pack("q", 0))

    def shift(self, seconds: int) -> None:
        with self.path.open("r+b") as file:  # not replaced: processes have it mapped
            file.write(struct.pack("q", seconds))


@pytest.fixture
def clock(tmp_path: Path, preload: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(tmp_path / "clock")
    monkeypatch.setenv("FAULTS_CLOCK", str(clock.path))
    monkeypatch.setenv("LD_PRELOAD", str(preload))
    return clock


@pytest.fixture
def server(tmp_path: Path, clock: Clock) -> Iterator[ServerProcess]:
    rows = [{"boat": 1.0, "sea": 2.0}, {"cat": 1.0}]
    OnlineLabelTreeClassifier(random_state=0).partial_fit(rows, [["sea"], ["cat"]]).save(tmp_path / "online")
    options = ["--learn", "--max-seconds", "8"]
    with ServerProcess(tmp_path / "online", *options, log=tmp_path / "log") as server:
        yield server


def test_a_server_works_on(server: ServerProcess, clock: Clock) -> None:
    for n, shift in enumerate([5 * HOUR, -5 * HOUR, 20 * YEAR, -20 * YEAR, 0], start=1):
        clock.shift(shift)
        assert server.client.post(PREDICT, json={"text": "a boat"}).status_code == 200
        lesson = {"examples": [{"text": "a boat", "labels": ["sea"]}]}
        learned = server.client.post("/v1/models/online/learn", json=lesson, headers=BEARER)
        assert learned.json()["n_examples"] == 2 + n, learned.text
        assert server.client.get("/readyz").status_code == 200
    clock.shift(20 * YEAR)
    server.client.post(PREDICT, json={"text": "the sea"})
    assert server.stop(signal.SIGTERM) == 0
    times = [json.loads(line)["time"] for line in server.log.read_text().splitlines() if line.startswith("{")]
    assert len({time[:4] for time in times}) == 3  # or the clock did not jump at all


def test_requests_in_progress_have_their_time(server: ServerProcess, clock: Clock) -> None:
    body = b'{"text": "a boat"}'
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    address = (server.client.base_url.host, server.client.base_url.port or 0)
    for shift in (5 * HOUR, -5 * HOUR):
        with socket.create_connection(address, timeout=60) as connection:
            connection.sendall(head + body[:5])
            assert server.client.get("/healthz").status_code == 200  # the head has arrived
            clock.shift(shift)
            connection.sendall(body[5:])
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(head + body[:5])
        clock.shift(-20 * YEAR)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 408 ")  # and not in twenty years


def test_only_logs_and_reports_ask_for_the_time_of_day() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {
                "time.time",
                "time.time_ns",
                "datetime.now",
                "datetime.utcnow",
                "date.today",
                "time.localtime",
            }
            if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                found.add(path.relative_to(SOURCES).as_posix())
    assert found <= WITH_TIME_OF_DAY, found - WITH_TIME_OF_DAY

"""A server that is told to stop fails no request that it could have answered."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import ServerProcess, wait_until
from tests.small_models import small_model

PREDICT = "/v1/models/small/predict"
ROW = {"indices": [1, 4, 9], "values": [1.0, 0.5, 2.0]}
#: A small question is answered on the event loop, a large one in a thread.
BODIES: list[dict[str, Any]] = [{"rows": [ROW]}, {"rows": [ROW] * 300, "k": 10}]
N_RESTARTS = int(os.environ.get("LABELTREE_RESTARTS", "10"))

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals"),
    pytest.mark.timeout(900),  # a server takes seconds to start, on a busy machine many
]


class Clients:
    """Clients that ask without a pause, some on one connection, some on a new one each time. Counts what they get."""

    def __init__(self, url: str, n_clients: int = 4) -> None:
        self.outcomes: Counter[str] = Counter()
        self._url = url
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._ask, args=(i,), daemon=True) for i in range(n_clients)]

    def _ask(self, number: int) -> None:
        limits = httpx.Limits(max_keepalive_connections=None if number % 2 else 0)
        body = BODIES[number // 2 % 2]
        with httpx.Client(base_url=self._url, timeout=60, limits=limits) as client:
            while not self._ended.is_set():
                try:
                    response = client.post(PREDICT, json=body)
                    n_answers = len(response.json()["predictions"])
                    outcome = "answered" if n_answers == len(body["rows"]) else "cut"
                    outcome = outcome if response.status_code == 200 else str(response.status_code)
                except httpx.ConnectError:
                    outcome = "refused"
                    time.sleep(0.2)  # leave the processors to the server that starts
                except Exception as error:
                    outcome = repr(error)
                with self._lock:
                    self.outcomes[outcome] += 1

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


@pytest.mark.parametrize("workers", [1, 2])
def test_restarts_under_load_fail_no_request(tmp_path: Path, workers: int) -> None:
    """A client may find nobody listening; it is never cut off."""
    small_model().save(tmp_path / "small")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with Clients(f"http://127.0.0.1:{port}") as clients:
        for _ in range(N_RESTARTS):
            arguments = (tmp_path / "small", "--workers", workers, "--quiet")
            with ServerProcess(*arguments, log=tmp_path / "log", port=port) as server:
                n_answered = clients.outcomes["answered"]
                wait_until(lambda n=n_answered: clients.outcomes["answered"] > n + 20, 60)  # type: ignore[misc]
                assert server.stop(signal.SIGTERM) == 0
    assert clients.outcomes.keys() <= {"answered", "refused"}, clients.outcomes


@pytest.mark.parametrize("workers", [1, 2])
def test_the_log_of_a_stopped_server_has_only_json_lines(tmp_path: Path, workers: int) -> None:
    small_model().save(tmp_path / "small")
    with ServerProcess(tmp_path / "small", "--workers", workers, log=tmp_path / "log") as server:
        assert server.stop() == 0
    for line in (tmp_path / "log").read_text().splitlines():
        json.loads(line)

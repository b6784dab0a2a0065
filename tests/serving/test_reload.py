"""New versions are loaded beside the old ones, and nobody notices."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.command_line import run
from tests.servers import BEARER, TOKEN, ServerProcess, serving, wait_until
from tests.small_models import small_model

from labeltree.serving import Settings, Tokens

PREDICT = "/v1/models/small/predict"
BODY = {"rows": [{"indices": [1, 4, 9], "values": [1.0, 0.5, 2.0]}], "k": 3}


class Load:
    """Clients that ask without a pause, and what they were answered."""

    def __init__(self, url: str, n_clients: int = 3) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.errors: list[Exception] = []
        self._ended = threading.Event()
        self._url = url
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(n_clients)]

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60) as client:
            while not self._ended.is_set():
                try:
                    response = client.post(PREDICT, json=BODY)
                except httpx.TransportError as error:
                    self.errors.append(error)
                else:
                    self.answers.append((response.status_code, response.json()))

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        wait_until(lambda: len(self.answers) > 5)
        return self

    def __exit__(self, *error: Any) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


def test_a_reload_under_load_drops_no_request(tmp_path: Path) -> None:
    path = tmp_path / "small"
    versions = [small_model(seed) for seed in range(4)]
    versions[0].save(path)
    answers: dict[str, Any] = {}  # what each version says
    with serving(Settings({"small": path}, tokens=Tokens([TOKEN]))) as (client, _):

        def note() -> str:
            found = client.post(PREDICT, json=BODY).json()
            answers[found["version"]] = found["predictions"]
            return str(found["version"])

        first = note()
        with Load(str(client.base_url)) as load:
            for model in versions[1:]:
                model.save(path)
                reloaded = client.post("/v1/models/small/reload", headers=BEARER).json()
                assert reloaded["complete"]
                assert note() == reloaded["version"]
                n_answers = len(load.answers)
                wait_until(lambda n=n_answers: len(load.answers) > n + 20)  # type: ignore[misc]
    assert first in answers
    assert len(answers) == 4
    assert load.errors == []
    assert {status for status, _ in load.answers} == {200}
    assert {answer["version"] for _, answer in load.answers} == set(answers)
    for _, answer in load.answers:  # never half of one and half of another
        assert answer["predictions"] == answers[answer["version"]]


def test_a_version_that_cannot_be_loaded_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "small"
    small_model().save(path)
    with serving(Settings({"small": path}, tokens=Tokens([TOKEN]))) as (client, _):
        before = client.post(PREDICT, json=BODY).json()
        (path / "model.json").write_text("{}")
        refused = client.post("/v1/models/small/reload", headers=BEARER)
        assert refused.status_code == 409
        assert "the previous version is still served" in refused.json()["error"]["message"]
        assert client.post(PREDICT, json=BODY).json() == before
        assert 'outcome="failed"} 1' in client.get("/metrics").text


def test_a_directory_that_changes_is_loaded_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "small"
    small_model(0).save(path)
    with serving(Settings({"small": path}, watch_seconds=0.05)) as (client, _):
        version = client.get("/v1/models/small").json()["version"]
        (path / "model.json").rename(tmp_path / "elsewhere")  # for a moment there is none
        time.sleep(0.2)
        assert client.post(PREDICT, json=BODY).json()["version"] == version
        small_model(1).save(tmp_path / "new")
        for file in (tmp_path / "new").glob("*.safetensors"):
            file.rename(path / file.name)
        (tmp_path / "new" / "model.json").rename(path / "model.json")
        wait_until(lambda: client.get("/v1/models/small").json()["version"] != version)
        assert client.post(PREDICT, json=BODY).json()["predictions"]


def test_a_model_that_is_not_there_at_the_moment_is_looked_for_later(tmp_path: Path) -> None:
    path = tmp_path / "small"
    small_model(0).save(path)
    with serving(Settings({"small": path})) as (_, service):
        (path / "model.json").rename(tmp_path / "elsewhere")
        asyncio.run(service.reloader._follow_files("small"))
        assert not service.reloader._refused


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
class TestWorkers:
    """Several processes."""

    def test_workers_are_one_server(self, tmp_path: Path) -> None:
        path = tmp_path / "small.labeltree"
        small_model(0).save(path)
        with ServerProcess(path, "--workers", 2, log=tmp_path / "log") as server:
            wait_until(lambda: "labeltree_worker_starts_total 2" in metrics(server), 60)
            with Load(server.url) as load:
                self._reload(server, path, load)
                self._kill_one(server, load)
            assert server.stop(signal.SIGINT) == 0
            assert {status for status, _ in load.answers} == {200}
            # Only what the killed worker was at may be lost: at most one request of each client.
            assert len(load.errors) <= 3, load.errors
            log = server.log.read_text()
            assert '"event":"worker died"' in log
            assert "Traceback" not in log

    def _reload(self, server: ServerProcess, path: Path, load: Load) -> None:
        before = server.client.get("/v1/models/small").json()["version"]
        small_model(1).save(path)
        answer = server.client.post("/v1/models/small/reload", headers=BEARER).json()
        assert answer["complete"]
        assert answer["version"] != before
        assert {worker["version"] for worker in answer["workers"]} == {answer["version"]}
        assert len(answer["workers"]) == 2
        n_answers = len(load.answers)
        wait_until(lambda: len(load.answers) > n_answers + 50)
        # All workers had the new version when the reload was answered.
        assert {found["version"] for _, found in load.answers[n_answers + 3 :]} == {answer["version"]}
        assert load.errors == []

    def _kill_one(self, server: ServerProcess, load: Load) -> None:
        n_requests = count(metrics(server))
        os.kill(worker_pids(server)[0], signal.SIGKILL)
        n_answers = len(load.answers)
        wait_until(lambda: len(load.answers) > n_answers + 50)  # the other one goes on
        wait_until(lambda: "labeltree_worker_starts_total 3" in metrics(server), 60)
        wait_until(lambda: len(worker_pids(server)) == 2)
        assert count(metrics(server)) > n_requests  # what the killed one counted is not lost

    def test_workers_do_not_outlive_their_supervisor(self, tmp_path: Path) -> None:
        small_model(0).save(tmp_path / "small")
        with ServerProcess(tmp_path / "small", "--workers", 2, log=tmp_path / "log") as server:
            wait_until(lambda: "labeltree_worker_starts_total 2" in metrics(server), 60)
            pids = worker_pids(server)
            assert len(pids) == 2
            server.stop(signal.SIGKILL)
            wait_until(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in pids))


def metrics(server: ServerProcess) -> str:
    with httpx.Client(timeout=60) as client:  # a connection of its own, to any of the workers
        try:
            return client.get(server.url + "/metrics").text
        except httpx.TransportError:
            return ""


def count(text: str) -> int:
    (line,) = (
        line for line in text.splitlines() if 'total{route="/v1/models/{name}/predict",status="200"}' in line
    )
    return int(line.rpartition(" ")[2]) - 1


def worker_pids(server: ServerProcess) -> list[int]:
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [pid for pid in map(int, children) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_server_that_stops_finishes_what_it_is_at(tmp_path: Path) -> None:
    small_model().save(tmp_path / "small")
    rows = [{"indices": list(range(20)), "values": [float(i)] * 20} for i in range(1000)]
    with ServerProcess(tmp_path / "small", log=tmp_path / "log") as server, ThreadPoolExecutor(4) as pool:
        url = f"{server.url}{PREDICT}"
        asked = [pool.submit(httpx.post, url, json={"rows": rows}, timeout=60) for _ in range(4)]
        wait_until(lambda: in_flight(server) > 0 or all(answer.done() for answer in asked))
        # A request is in flight until the server knows that its answer was read. So one that is done may still be in
        # flight, and so may be the last question for /metrics.
        n_begun = max(in_flight(server) - 1, sum(answer.done() for answer in asked))
        assert server.stop() == 0
        # What it had not begun to read, it may refuse.
        answered = [
            answer.result() for answer in asked if not isinstance(answer.exception(), httpx.TransportError)
        ]
        assert {answer.status_code for answer in answered} == {200}
        assert len(answered) >= n_begun
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.url + "/healthz")


def in_flight(server: ServerProcess) -> int:
    """How many requests are at work, beside the one that asks this."""
    (line,) = (
        line for line in metrics(server).splitlines() if line.startswith("labeltree_requests_in_flight ")
    )
    return int(line.rpartition(" ")[2])


def test_what_is_wrong_is_said_before_anything_is_served(tmp_path: Path) -> None:
    small_model().save(tmp_path / "small")
    small = tmp_path / "small"
    assert "there is no such directory" in run("serve", tmp_path / "fish", exit_code=1).output
    assert "there is no such directory" in run("serve", tmp_path / "fish", "--workers", 2, exit_code=1).output
    assert "--learn needs a token" in run("serve", small, "--learn", exit_code=1).output
    token_file = tmp_path / "tokens"
    token_file.write_text(TOKEN)
    both = ("--token-file", token_file, "--learn", "--port", 0)
    two_workers = run("serve", small, *both, "--workers", 2, exit_code=1)
    assert "--learn needs one worker, got 2" in two_workers.output
    assert "none of the models can learn" in " ".join(run("serve", small, *both, exit_code=1).output.split())
    assert "two models have the name" in run("serve", small, small, exit_code=1).output
    assert "cannot be the name of a model" in run("serve", f"a/b={small}", exit_code=1).output
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "cannot listen on 127.0.0.1" in run("serve", small, "--port", port, exit_code=1).output

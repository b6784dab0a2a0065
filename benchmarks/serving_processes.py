"""Servers and clients of `benchmarks.serving`: processes, what they are asked, and what they use."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmarks.process import stop

START_SECONDS = 120.0
LABELTREE = [sys.executable, "-c", "from labeltree.cli import main; main()"]
TOKEN = "a-token-for-the-benchmark"


class Server:
    """A server in processes of its own, on a free port of loopback."""

    def __init__(self, command: Sequence[str], log: Path, is_there: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        with open(log, "wb") as file:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)],
                stdout=subprocess.DEVNULL,
                stderr=file,
                env={**os.environ, "LABELTREE_TOKENS": TOKEN},
                start_new_session=True,
            )
        self.url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + START_SECONDS
        while not self._answers(is_there):
            if self._process.poll() is not None or time.monotonic() > until:
                stop(self._process)
                raise RuntimeError(f"the server does not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)

    @classmethod
    def of_labeltree(cls, models: Mapping[str, Path], workers: int, log: Path, *options: str) -> Server:
        """`labeltree serve`, as users start it: it writes a line about every request."""
        named = [f"{name}={path}" for name, path in models.items()]
        server = cls([*LABELTREE, "serve", *named, "--workers", str(workers), *options], log, "/readyz")
        while server.counters()["labeltree_worker_starts_total"] < workers:
            time.sleep(0.1)
        return server

    @classmethod
    def of_nothing(cls, workers: int, log: Path) -> Server:
        """FastAPI and uvicorn, with an endpoint that does nothing and without a line about every request."""
        uvicorn = [sys.executable, "-m", "uvicorn", "benchmarks.serving_nothing:app", "--no-access-log"]
        server = cls([*uvicorn, "--workers", str(workers)], log, "/openapi.json")
        while log.read_text().count("Application startup complete") < workers:
            time.sleep(0.1)
        return server

    def _answers(self, path: str) -> bool:
        try:
            return httpx.get(self.url + path).status_code == 200
        except httpx.TransportError:
            return False

    def counters(self) -> dict[str, float]:
        """What /metrics says, summed over models and statuses."""
        sums: dict[str, float] = {}
        for line in httpx.get(self.url + "/metrics").text.splitlines():
            if found := re.fullmatch(r"(\w+)(\{.*\})? (\S+)", line):
                if "seconds_sum" in line and "/predict" not in line:
                    continue
                sums[found[1]] = sums.get(found[1], 0.0) + float(found[3])
        return sums

    def reload(self, model: str) -> dict[str, Any]:
        """Make the server load a model again."""
        answer = httpx.post(
            f"{self.url}/v1/models/{model}/reload", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        )
        answer.raise_for_status()
        loaded: dict[str, Any] = answer.json()
        return loaded

    def processes(self) -> list[int]:
        """The ids of all its processes, the first that was started first."""
        found, waiting = [], [self._process.pid]
        while waiting:
            found.append(waiting.pop(0))
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        return found

    def workers(self) -> list[int]:
        """The ids of the processes that answer."""
        spawned = [
            pid for pid in self.processes() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        return spawned or [self._process.pid]

    def kill_a_worker(self) -> None:
        """Without a warning."""
        os.kill(self.workers()[0], signal.SIGKILL)

    def anonymous_mb(self) -> float:
        """What all its processes have allocated; pages of mapped files do not count."""
        return sum(anonymous_kilobytes(pid) for pid in self.processes()) / 1024

    def processor_seconds(self) -> float:
        """What those that answer have used so far."""
        ticks = [
            Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13] for pid in self.workers()
        ]
        return sum(int(user) + int(system) for user, system in ticks) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Kill it without a warning."""
        stop(self._process)


def anonymous_kilobytes(pid: int) -> int:
    (line,) = (
        row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("RssAnon:")
    )
    return int(line.split()[1])


class Client:
    """`benchmarks.serving_client` at work."""

    def __init__(self, server: Server, requests: Path, seconds: float, connections: int) -> None:
        command = [sys.executable, "-m", "benchmarks.serving_client", "127.0.0.1", str(server.port)]
        command += [str(requests), "--seconds", str(seconds), "--connections", str(connections)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        self._output = self._process.stdout
        if self._output.readline() != b"begun\n":
            stop(self._process)
            raise RuntimeError("the client does not start")

    @property
    def is_at_work(self) -> bool:
        return self._process.poll() is None

    def result(self) -> dict[str, Any]:
        """What it reports in the end."""
        with self._output:
            told: dict[str, Any] = json.loads(self._output.read())
        self._process.wait()
        return told

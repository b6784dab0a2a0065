"""Servers for tests: in a thread of the tests, or as users start them."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.command_line import start

from labeltree.serving import Service, Settings, create_application
from labeltree.serving.protocol import protocol_of
from labeltree.serving.running import listen
from labeltree.serving.shared_state import SharedState

TOKEN = "a-token-for-the-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@contextmanager
def serving(
    settings: Settings, shared: SharedState | None = None, worker: int = 0
) -> Iterator[tuple[httpx.Client, Service]]:
    """A server in a thread, with a client of it; with shared state it is one of several workers."""
    service = Service(settings, shared, worker)
    application = create_application(service)
    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="on",
        **protocol_of(settings.limits, application.state.fast_lane),
    )
    server = uvicorn.Server(config)
    with listen("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            wait_until(lambda: server.started)
            with httpx.Client(base_url=url, timeout=60) as client:
                yield client, service
        finally:
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive(), "the server does not stop"


class ServerProcess:
    """`labeltree serve` in a process of its own, on a free port if none is given."""

    def __init__(self, *arguments: object, log: Path, tokens: str = TOKEN, port: int = 0) -> None:
        self.log = log
        with log.open("ab") as file:
            os.environ["LABELTREE_TOKENS"] = tokens
            try:
                self.process = start("serve", *arguments, "--port", port, stdout=subprocess.PIPE, stderr=file)
            finally:
                del os.environ["LABELTREE_TOKENS"]
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()
        assert self.url.startswith("http://"), log.read_text()
        self.client = httpx.Client(base_url=self.url, timeout=60)
        wait_until(self.is_ready)

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and wait for the end."""
        self.client.close()  # the server would wait for its next request
        self.process.send_signal(number)
        return self.process.wait(60)

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *error: Any) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def wait_until(is_done: Any, seconds: float = 60.0) -> None:
    """Wait for something that other threads or processes do."""
    until = time.monotonic() + seconds
    while not is_done():
        assert time.monotonic() < until, "it never came to pass"
        time.sleep(0.01)

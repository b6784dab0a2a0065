"""How a server that is told to stop decides what to refuse and how long to wait."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn

from labeltree.serving import draining
from labeltree.serving.draining import DrainingServer


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield opened


def draining_server(listener: socket.socket, is_only: bool) -> DrainingServer:
    config = uvicorn.Config("no:app", timeout_graceful_shutdown=5)
    return DrainingServer(config, listener, is_only, on_stop=lambda: None)


@pytest.mark.parametrize("is_only", [True, False])
def test_only_a_server_without_siblings_refuses_connections_and_once(
    listener: socket.socket, is_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[socket.socket] = []
    monkeypatch.setattr(draining, "refuse_connections", refused.append)
    server = draining_server(listener, is_only)
    for _ in range(2):
        server.handle_exit(signal.SIGTERM, None)
        assert server.should_exit
        assert refused == [listener] * is_only


def test_how_long_a_server_that_stops_waits(listener: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        idle = Mock(waits_for_head=True)
        idle.transport.get_extra_info.return_value = ours
        alone, sibling = draining_server(listener, True), draining_server(listener, False)

        def wanted(server: DrainingServer, *connections: Any) -> list[bool]:
            server.server_state.connections = set(connections)
            return [server._is_wanted(seconds) for seconds in (0.1, 0.5, 2, 4.9, 5.1)]

        assert wanted(alone) == [True, False, False, False, False]
        assert wanted(alone, idle) == [True, True, False, False, False]
        theirs.sendall(b"G")  # the begin of another request
        assert wanted(alone, idle) == [True, True, True, True, False]
        idle.waits_for_head = False  # its request is answered by uvicorn's own shutdown
        assert wanted(alone, idle) == [True, True, False, False, False]
        with socket.create_connection(listener.getsockname()):  # waits to be accepted
            assert wanted(alone) == [True, True, True, True, False]
            assert wanted(sibling) == [True, False, False, False, False]

"""The size of a head is limited to the byte, in however many parts it comes."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from labeltree.serving import Limits, protocol

pytest.importorskip("httptools")

LIMIT = 2000
ADDRESS = "/healthz"
HEADERS = {"Host": "localhost", "X-One": "1", "X-Two": "2"}


def head_of(size: int) -> bytes:
    """A head with this size: its address, and its fields with `: ` and the end of the line."""
    size -= len(ADDRESS) + sum(len(name) + len(value) + 4 for name, value in HEADERS.items())
    fields = HEADERS | {"X-Long": "a" * (size - len("X-Long") - 4)}
    lines = [f"GET {ADDRESS} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode()


async def answer_to(*parts: bytes) -> bytes:
    """The answer of a server with the limit to parts that come one after the other."""
    written = bytearray()
    transport = Mock()
    transport.get_extra_info.return_value = None
    transport.write.side_effect = written.extend
    transport.is_closing.return_value = False

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    options = protocol.protocol_of(Limits(head_bytes=LIMIT))
    config = uvicorn.Config(app, lifespan="off", log_config=None, **options)
    config.load()
    state = ServerState()
    connection = config.http_protocol_class(config, state, {})
    connection.connection_made(transport)
    for part in parts:
        connection.data_received(part)
    await asyncio.gather(*state.tasks)
    connection.connection_lost(None)
    return bytes(written)


@pytest.mark.parametrize("n_first", [0, 1, LIMIT // 2, LIMIT])
@pytest.mark.parametrize(("size", "status"), [(LIMIT, 200), (LIMIT + 1, 431)])
def test_a_head_may_be_as_large_as_the_limit(size: int, status: int, n_first: int) -> None:
    head = head_of(size)
    parts = [part for part in (head[:n_first], head[n_first:]) if part]
    assert asyncio.run(answer_to(*parts)).startswith(f"HTTP/1.1 {status} ".encode())

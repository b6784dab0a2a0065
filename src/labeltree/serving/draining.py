"""Stop a server without cutting off a client: refuse new connections, then answer those that there are."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import select
import socket
import struct
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

#: Connections that are being made when the server is told to stop have this time to be complete.
ACCEPT_SECONDS = 0.3

#: Clients that keep a connection have this time to send another request, whose answer tells them to close it.
DRAIN_SECONDS = 1.0

_SO_ATTACH_FILTER = 26
#: Instructions of the classic packet filter (code, jump if true, jump if false, operand): drop packets that begin a
#: connection, those with the flag SYN in byte 13 of the TCP header, and accept all others.
_DROP_SYN = ((0x30, 0, 0, 13), (0x45, 0, 1, 0x02), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))


def refuse_connections(listener: socket.socket) -> None:
    """Let no new connection begin, for all processes that share the socket.

    A socket that is closed resets the connections that wait to be accepted. So packets that begin a connection are
    dropped first. Their clients try again after a second and find the socket closed: the connection is refused. Only
    Linux can do this; elsewhere a connection that comes in the last moment may be reset.
    """
    if sys.platform != "linux":
        return
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_SYN)
    program = ctypes.create_string_buffer(code, len(code))
    with contextlib.suppress(OSError):  # a kernel without filters
        attached = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(program))
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, attached)


class DrainingServer(uvicorn.Server):
    """A server of uvicorn that answers what has arrived before it stops.

    uvicorn closes the listening socket and all idle connections at once, even those whose next request has arrived.

    Parameters
    ----------
    config : uvicorn.Config
    listener : socket
        The socket that connections come from.
    is_only : bool
        Whether no other process accepts connections from the socket.
    on_stop : callable
        Called when the server begins to stop.
    """

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, is_only: bool, on_stop: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._listener = listener
        self._is_only = is_only
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Refuse new connections at once, and stop soon."""
        if self._is_only and not self.should_exit:
            refuse_connections(self._listener)
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop. uvicorn's own makes new default headers, which `shutdown` must be able to change."""
        return self.should_exit

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer the requests that have arrived or are about to, then close everything."""
        self._on_stop()
        # All answers from now on, also those in progress. uvicorn closes a connection after such an answer.
        self.server_state.default_headers.append((b"connection", b"close"))
        began = time.monotonic()
        while self._is_wanted(time.monotonic() - began) and not self.force_exit:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)

    def _is_wanted(self, seconds: float) -> bool:
        """Return whether there is more to accept or to read, this long after the begin."""
        if seconds > self.config.timeout_graceful_shutdown:  # type: ignore[operator]
            return False
        connections: set[Any] = self.server_state.connections  # of `labeltree.serving.protocol`
        if seconds < ACCEPT_SECONDS or (self._is_only and _has_input(self._listener)):
            return True
        if seconds < DRAIN_SECONDS:
            return bool(connections)
        return any(
            one.waits_for_head and _has_input(one.transport.get_extra_info("socket")) for one in connections
        )


def _has_input(connection: socket.socket) -> bool:
    """Return whether a connection waits to be accepted, or bytes to be read."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return any(happened & select.POLLIN for _, happened in poll.poll(0))

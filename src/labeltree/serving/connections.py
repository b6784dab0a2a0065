"""The connections of a process: how many there are, and how fast their heads, bodies and answers must move."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

from labeltree.serving.errors import Refusal
from labeltree.serving.limits import Limits
from labeltree.serving.logs import log_event

#: Connections are looked at this often, or more often if a limit is short.
LOOK_SECONDS = 1.0


class Pace:
    """Whether something that moves in bytes moves fast enough.

    Examples
    --------
    >>> pace = Pace(Limits(stall_seconds=5, bytes_per_second=100))
    >>> [pace.is_too_slow("a body", n_bytes, now) for n_bytes, now in ((0, 0.0), (9000, 4.0), (9000, 9.5))]
    [False, False, True]
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._what: Any = self  # nothing yet

    def is_too_slow(self, what: Any, n_bytes: int, now: float) -> bool:
        """Return whether `what` has stalled, or has moved too slowly since it was first seen here."""
        if self._what != what:
            self._what, self._began, self._first = what, now, n_bytes
            self._moved, self._last = now, n_bytes
        if n_bytes != self._last:
            self._moved, self._last = now, n_bytes
        stall, pace = self._limits.stall_seconds, self._limits.bytes_per_second
        seconds = now - self._began - stall
        return now - self._moved > stall or (n_bytes - self._first) < pace * seconds


class Connections:
    """All connections of a process. A protocol of uvicorn, see `labeltree.serving.protocol`, asks it for admission.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._max_per_client = limits.share_of(limits.connections)
        self._open: dict[Any, str] = {}  # addresses by connection, oldest first
        self._per_client: Counter[str] = Counter()
        self._closed: Counter[str] = Counter()  # since the last look, by reason
        self._timer: asyncio.TimerHandle | None = None
        shortest = min(limits.head_seconds, limits.stall_seconds)
        self._look_seconds = min(LOOK_SECONDS, shortest / 4)

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: Any, client: str) -> Refusal | None:
        """Count a new connection, or return why there is no place for it."""
        if self._per_client[client] >= self._max_per_client < self.limits.connections:
            self._closed["share"] += 1
            return Refusal(
                503,
                f"at most {self._max_per_client} connections from one address; behind a proxy start the server with "
                "--max-client-share 1",
                headers={"Retry-After": "1"},
            )
        if len(self._open) >= self.limits.connections and not self._make_room():
            self._closed["full"] += 1
            return Refusal(503, "too many connections: retry later", headers={"Retry-After": "1"})
        self._open[connection] = client
        self._per_client[client] += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._look_seconds, self._look)
        return None

    def forget(self, connection: Any) -> None:
        """Count down a connection that is closed."""
        client = self._open.pop(connection, None)
        if client is not None:
            self._per_client[client] -= 1
            if not self._per_client[client]:
                del self._per_client[client]

    def _make_room(self) -> bool:
        """Close the connection that has been without a complete head longest."""
        idle = [connection for connection in self._open if connection.waits_for_head]
        if not idle:
            return False
        self._close(min(idle, key=lambda connection: connection.waits_since), "idle")
        return True

    def _close(self, connection: Any, reason: str) -> None:
        self._closed[reason] += 1
        self.forget(connection)
        connection.drop()

    def _look(self) -> None:
        """Close connections that are too slow, and tell the log how many were closed."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in list(self._open):
            reason = connection.fault(now)
            if reason:
                self._close(connection, reason)
        if self._closed:
            reasons: dict[str, Any] = dict(self._closed)
            log_event("closed connections", level=logging.WARNING, **reasons)
            self._closed.clear()
        self._timer = loop.call_later(self._look_seconds, self._look) if self._open else None

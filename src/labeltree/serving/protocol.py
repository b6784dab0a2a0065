"""HTTP/1.1 by uvicorn, with limits that uvicorn does not have: on heads, connections, and clients that are too slow."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from labeltree.serving.connections import Connections, Pace
from labeltree.serving.errors import Refusal
from labeltree.serving.fast_lane import FastLane
from labeltree.serving.limits import Limits

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # httptools is not there for every platform
    HttpToolsProtocol = None  # type: ignore[assignment,misc]


#: Maximum number of requests that a client may send before it has the answer to the first.
MAX_PIPELINED = 64


class _Watched:
    """The limits of both protocols. Little is done for each request: `Connections` calls `fault` from time to time."""

    doors: Connections  # a class attribute, see `protocol_of`: uvicorn makes the instances
    transport: Any
    flow: Any
    loop: Any
    cycle: Any
    scope: Any
    timeout_keep_alive_task: Any

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._running: Any = None
        self._is_refused = False
        self._pace = Pace(self.doors.limits)
        self._head_of: Any = None  # no request yet
        self.waits_since = self.loop.time()
        peer = transport.get_extra_info("peername")
        refusal = self.doors.admit(self, peer[0] if peer else "")
        if refusal is not None:
            self.refuse(refusal)
        else:
            super().connection_made(transport)  # type: ignore[misc]

    def connection_lost(self, error: Exception | None) -> None:
        self.doors.forget(self)
        self._give_up()
        if self.flow is not None:
            super().connection_lost(error)  # type: ignore[misc]

    def refuse(self, refusal: Refusal) -> None:
        """Answer and close the connection, and read nothing more from it."""
        self._is_refused = True
        response = refusal.response()
        phrase = HTTPStatus(refusal.status).phrase
        lines = [f"HTTP/1.1 {refusal.status} {phrase}".encode(), b"connection: close"]
        lines += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self.transport.close()

    def drop(self) -> None:
        """Close the connection at once."""
        self._give_up()
        self.transport.abort()

    def _give_up(self) -> None:
        """Tell requests in progress that nobody waits for their answers: writing to a closed transport is an error."""
        for cycle in (self.cycle, self._running):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    @property
    def waits_for_head(self) -> bool:
        """Whether no request is in progress."""
        return self.cycle is None or self.cycle.response_complete

    def fault(self, now: float) -> str:
        """Return why the connection must be closed, or an empty string."""
        limits = self.doors.limits
        n_waiting = self.transport.get_write_buffer_size()
        if n_waiting:
            exchange = self.scope.get("exchange") if self.scope else None
            # Without an exchange, as between pipelined requests, any progress will do.
            what, n_sent = (n_waiting, 0) if exchange is None else (self.cycle, exchange.n_sent)
            return "slow reader" if self._pace.is_too_slow(what, n_sent - n_waiting, now) else ""
        if self.transport.is_closing():
            return ""
        if self.waits_for_head:
            if self.timeout_keep_alive_task is not None or self._head_of is not self.cycle:
                self._head_of, self.waits_since = self.cycle, now  # idle: uvicorn closes it in time
            return "slow head" if now - self.waits_since > limits.head_seconds else ""
        if self.cycle.more_body:
            exchange = self.scope.get("exchange")
            if exchange is not None and self._pace.is_too_slow(exchange, exchange.n_bytes, now):
                exchange.give_up()
        return ""


def _too_large(limits: Limits, url: bytes) -> Refusal:
    if len(url) > limits.head_bytes // 2:
        return Refusal(414, "the address is too long: send a body, or a shorter query")
    return Refusal(431, f"the head may have at most {limits.head_bytes} bytes")


class WatchedH11(_Watched, H11Protocol):
    """Without httptools. h11 itself limits the size of heads, and `protocol_of` tells it how much."""


class _StopError(Exception):
    """Stops the parser, whose connection is closed."""


if HttpToolsProtocol is not None:

    class WatchedHttpTools(_Watched, HttpToolsProtocol):
        """With httptools, which has no limit on heads and takes a time that is quadratic in their size."""

        lane: FastLane | None  # a class attribute, as `doors`
        _held: bytes | None = None  # the body so far of a request that may be answered by the fast lane
        _may_hold = False

        def connection_made(self, transport: Any) -> None:
            self._steps = 0  # heads and parts of bodies that have been read
            self._loose_bytes = 0  # that came since the last of them
            super().connection_made(transport)

        def data_received(self, data: bytes) -> None:
            if self._is_refused:
                return
            self._size, before = len(data), self._steps
            self._may_hold = self.lane is not None  # one request: the others are limited as a pipeline
            super().data_received(data)
            if self._held is not None:  # its body is not complete
                self._let_go()
            if self._steps != before:
                self._loose_bytes = 0
                return
            self._loose_bytes += len(data)  # of a head or a trailer
            if self._loose_bytes > self.doors.limits.head_bytes and not self.transport.is_closing():
                self._stop(_too_large(self.doors.limits, self.url))

        def on_headers_complete(self) -> None:
            self._steps += 1
            limits = self.doors.limits
            if self._size + self._loose_bytes > limits.head_bytes:  # else there is nothing to add up
                size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
                if size > limits.head_bytes:
                    self._stop(_too_large(limits, self.url))
                    raise _StopError
            if len(self.pipeline) >= MAX_PIPELINED:
                self._stop(Refusal(400, f"at most {MAX_PIPELINED} requests before the first answer"))
                raise _StopError
            if not self.pipeline:
                self._running = self.cycle  # uvicorn forgets it if this request is pipelined
            if self._may_hold and self._suits_lane():
                self._held, self._may_hold = b"", False
            else:
                self._begin()

        def _begin(self) -> None:
            super().on_headers_complete()
            self.headers = []  # uvicorn would add the fields behind a chunked body to those of the head

        def _suits_lane(self) -> bool:
            """Return whether nobody waits for another answer, and the connection stays open after this one."""
            return (
                self.lane is not None
                and self.url in self.lane
                and self.waits_for_head
                and not (self.pipeline or self.flow.write_paused or self.transport.is_closing())
                and not self.server_state.default_headers  # those of a server that stops
                and self.parser.get_method() == b"POST"
                and self.parser.should_keep_alive()
                and self.parser.get_http_version() == "1.1"
            )

        def _let_go(self) -> None:
            """Hand a request that was held to the application."""
            body, self._held = self._held, None
            self._begin()
            if body:
                super().on_body(body)

        def on_message_complete(self) -> None:
            if self._held is not None and self.lane is not None:
                answer = self.lane.answer(self.url, self.headers, self._held, self.client)
                if answer is not None:
                    self._held, self.headers = None, []
                    self.transport.write(answer)
                    self.on_response_complete()
                    return
                self._let_go()
            super().on_message_complete()

        def on_response_complete(self) -> None:
            if self.pipeline:
                self._running = self.pipeline[-1][0]
            super().on_response_complete()

        def on_body(self, body: bytes) -> None:
            self._steps += 1
            if self._held is not None:
                self._held += body
            else:
                super().on_body(body)

        def send_400_response(self, msg: str) -> None:
            if self._is_refused:
                return
            cycle = self.cycle
            if self.waits_for_head or (cycle.more_body and not cycle.response_started and not self.pipeline):
                self._give_up()
                super().send_400_response(msg)
            else:  # what is wrong came after a request whose answer is on its way
                self._is_refused = True
                self.drop()

        def _stop(self, refusal: Refusal) -> None:
            if self.waits_for_head:
                self.refuse(refusal)
            else:  # an answer is on its way, and this one would be taken for it
                self._is_refused = True
                self.drop()


def protocol_of(limits: Limits, lane: FastLane | None = None) -> dict[str, Any]:
    """Return the options of `uvicorn.Config` that limit connections."""
    base = WatchedH11 if HttpToolsProtocol is None else WatchedHttpTools
    return {
        "http": type("Protocol", (base,), {"doors": Connections(limits), "lane": lane}),
        "h11_max_incomplete_event_size": limits.head_bytes,
        "timeout_keep_alive": limits.idle_seconds,
    }

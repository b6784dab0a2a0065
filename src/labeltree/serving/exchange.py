"""One request and its answer, as they pass the gate."""

from __future__ import annotations

import re
import secrets
import time

from starlette.types import Message, Receive, Scope, Send

from labeltree.serving.admission import Admission
from labeltree.serving.errors import Refusal
from labeltree.serving.time_limit import TimeLimit

#: The page loads only files of this server, and no other page may embed it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: All answers have these.
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
#: No body that is accepted has a length of more digits.
_MAX_DIGITS = 18

#: An answer is sent in parts of this size; each waits until the client has taken most of those before.
PART_BYTES = 64 << 10

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Exchange:
    """Receives the body, sends the answer with the headers that all answers have, and remembers both for the log.

    Endpoints set `model`, `rows` and `model_seconds`.
    """

    model = ""
    rows = 0
    model_seconds = 0.0
    body = b""
    n_bytes = 0  # of the body, so far
    n_sent = 0  # bytes of the answer's body, so far
    status = 500
    limit: TimeLimit | None = None
    is_reading = is_too_slow = False
    _has_begun = False  # the answer
    _n_held = 0  # bytes of a body that arrives in parts, as `Admission` counts them

    def __init__(self, scope: Scope, receive: Receive, send: Send, admission: Admission) -> None:
        self.started = time.perf_counter()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        given = self.headers.get(b"x-request-id", b"")
        self.id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        self.client: str = scope["client"][0] if scope.get("client") else ""
        self._receive, self._send = receive, send
        self._admission = admission
        self._max_bytes = admission.limits.body_bytes
        length = self.headers.get(b"content-length", b"0").lstrip(b"0")
        self.body_is_read = not length and b"transfer-encoding" not in self.headers
        if length.isdigit():
            self._length = int(length) if len(length) <= _MAX_DIGITS else 10**_MAX_DIGITS
        else:
            self._length = 0

    def check_length(self) -> None:
        """Refuse a body whose Content-Length is too large."""
        self._check_bytes(self._length)

    async def read_body(self) -> None:
        """Receive the whole body."""
        parts = []
        self.is_reading = True
        while True:
            message = self._counted(await self._receive())
            if message["type"] == "http.disconnect":
                raise Refusal(400, "the connection was closed before the body was complete")
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                break
            self._n_held += len(parts[-1])
            self._admission.hold(self.client, len(parts[-1]))
        self.is_reading = False
        self.body = parts[0] if len(parts) == 1 else b"".join(parts)

    def give_up(self) -> None:
        """Stop waiting for a body that is too slow."""
        if self.is_reading and self.limit is not None:
            self.is_too_slow = True
            self.limit.end()

    def close(self) -> None:
        """Free the memory of the body, and let go of the connection."""
        if self._n_held:
            self._admission.free(self.client, self._n_held)
        self.body = b""
        del (
            self._receive,
            self._send,
        )  # they lead back to this: without them nothing is left for the collector

    async def receive(self) -> Message:
        """Receive a part of the body; refuse it if there are too many bytes."""
        return self._counted(await self._receive())

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self._has_begun = True
            self.status = message["status"]
            headers = [*message["headers"], *HEADERS, (b"x-request-id", self.id.encode())]
            if not self.body_is_read:  # the rest of the body is never read
                headers.append((b"connection", b"close"))
            message["headers"] = headers
        else:
            self.n_sent += len(message.get("body", b""))
        await self._send(message)

    async def answer(self, content: bytes) -> None:
        """Send JSON. Its time depends on the client, so the pace is limited instead."""
        if self.limit is not None:
            self.limit.lift()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(content))]
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        for begin in range(0, len(content) - PART_BYTES, PART_BYTES):
            part = content[begin : begin + PART_BYTES]
            await self.send({"type": "http.response.body", "body": part, "more_body": True})
        rest = content[self.n_sent :]
        await self.send({"type": "http.response.body", "body": rest})

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with an error, unless another answer has begun."""
        if not self._has_begun:
            response = refusal.response()
            start = {"type": "http.response.start", "status": response.status_code}
            await self.send({**start, "headers": response.raw_headers})
            await self.send({"type": "http.response.body", "body": response.body})

    def _counted(self, message: Message) -> Message:
        if message["type"] == "http.request":
            self.n_bytes += len(message.get("body", b""))
            self._check_bytes(self.n_bytes)
            self.body_is_read = not message.get("more_body", False)
        return message

    def _check_bytes(self, n_bytes: int) -> None:
        if n_bytes > self._max_bytes:
            message = f"the body may have at most {self._max_bytes} bytes; send several requests"
            raise Refusal(413, message)

"""One request and its answer, as they pass the gate."""

from __future__ import annotations

import re
import secrets
import time

from starlette.types import Message, Receive, Scope, Send

from labeltree.serving.errors import Refusal

#: The page loads only files of this server, and no other page may embed it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Exchange:
    """Receives the body, sends the answer with the headers that all answers have, and remembers both for the log.

    Endpoints set `model`, `rows` and `model_seconds`.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self.started = time.perf_counter()
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        given = self.headers.get(b"x-request-id", b"")
        self.id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        self.model = ""
        self.rows = 0
        self.model_seconds = 0.0
        self.n_bytes = 0
        self.body_is_read = False
        self.status = 500
        self._scope, self._receive, self._send = scope, receive, send
        self._max_bytes = max_bytes
        self._has_begun = False

    def check_length(self) -> None:
        """Refuse a body that says to be too large."""
        length = self.headers.get(b"content-length", b"0")
        if length.isdigit():
            self._check_bytes(int(length))

    async def receive(self) -> Message:
        """Receive a part of the body; refuse it if there are too many bytes."""
        message = await self._receive()
        if message["type"] == "http.request":
            self.n_bytes += len(message.get("body", b""))
            self._check_bytes(self.n_bytes)
            self.body_is_read = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self._has_begun = True
            self.status = message["status"]
            message["headers"] = [*message["headers"], *_HEADERS, (b"x-request-id", self.id.encode())]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with an error, unless another answer has begun."""
        if not self._has_begun:
            await refusal.response()(self._scope, self._receive, self.send)

    def _check_bytes(self, n_bytes: int) -> None:
        if n_bytes > self._max_bytes:
            message = f"the body may have at most {self._max_bytes} bytes; send several requests"
            raise Refusal(413, message, headers={"Connection": "close"})  # the rest of the body is not read

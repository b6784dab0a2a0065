"""The outermost layer of the application: tokens, limits, timeouts, logs, metrics and headers of every request."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeltree.serving.errors import Refusal, internal_error, overloaded
from labeltree.serving.logs import Exchange, log_event
from labeltree.serving.metrics import ROUTES
from labeltree.serving.service import Service
from labeltree.serving.time_limit import TimeLimit
from labeltree.serving.tokens import Access, access_of

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
_KNOWN_ROUTES = frozenset(ROUTES)
_MODEL_PATH = re.compile(r"/v1/models/([^/]+)/([a-z]+)")


class Gate:
    """Pure ASGI middleware, because every request pays for it.

    The time limit covers a request from its head to the end of its answer. A thread that computes cannot be stopped:
    its request is answered with an error, but the thread counts as busy until it is done.

    Parameters
    ----------
    app : ASGI application
        The application behind the gate.
    service : Service
        Its settings, metrics and log are used.
    shortcuts : iterable of LeanRoute
        Routes ``/v1/models/{name}/…`` that are called without the layers of `app`.
    """

    def __init__(self, app: ASGIApp, service: Service, shortcuts: Iterable[Any]) -> None:
        self._app = app
        self._shortcuts = {route.path.rpartition("/")[2]: route for route in shortcuts}
        self._limits = service.settings.limits
        self._tokens = service.settings.tokens
        self._metrics = service.metrics
        self._log = service.log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        exchange = scope["exchange"] = Exchange(_request_id(headers.get(b"x-request-id")), headers)
        answer = _Answer(send, exchange.id)
        self._metrics.began()
        try:
            await self._forward(scope, exchange, receive, answer)
        except Refusal as refusal:
            await answer.refuse(refusal, scope, receive)
        except Exception as error:
            log_event("fault", level=logging.ERROR, error=error, request=exchange.id)
            await answer.refuse(internal_error(), scope, receive)
        finally:
            self._metrics.ended()
            seconds = time.perf_counter() - exchange.started
            exchange.route = _route(scope)
            self._metrics.answered(exchange.route, answer.status, seconds)
            self._log.add(exchange, scope["method"], answer.status, seconds)

    async def _forward(self, scope: Scope, exchange: Exchange, receive: Receive, answer: _Answer) -> None:
        method, path, limits = scope["method"], scope["path"], self._limits
        access = access_of(method, path)
        self._tokens.check(access, exchange.headers.get(b"authorization"))
        if access is not Access.OPEN and self._metrics.in_flight > limits.in_flight:
            raise overloaded()
        body = _Body(receive, exchange, limits.body_bytes)
        app = self._app
        matched = _MODEL_PATH.fullmatch(path) if method == "POST" else None
        if matched is not None and (route := self._shortcuts.get(matched[2])) is not None:
            scope["route"], scope["path_params"] = route, {"name": matched[1]}
            app = route.app
        with TimeLimit(limits.seconds) as limit:
            await app(scope, body.receive, answer.send)
        if limit.is_over and exchange.body_is_read:
            raise Refusal(504, f"the answer took longer than {limits.seconds:g} seconds; ask for less")
        if limit.is_over:
            message = f"the body did not arrive within {limits.seconds:g} seconds"
            raise Refusal(408, message, headers={"Connection": "close"})


class _Body:
    """Receives the body and refuses one that is too large, at the latest when too many bytes have come."""

    def __init__(self, receive: Receive, exchange: Exchange, limit: int) -> None:
        self._receive = receive
        self._exchange = exchange
        self._limit = limit
        length = exchange.headers.get(b"content-length", b"0")
        if length.isdigit():
            self._check(int(length))

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            exchange = self._exchange
            exchange.n_bytes += len(message.get("body", b""))
            self._check(exchange.n_bytes)
            exchange.body_is_read = not message.get("more_body", False)
        return message

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self._limit:
            message = f"the body may have at most {self._limit} bytes; send several requests"
            raise Refusal(413, message, headers={"Connection": "close"})  # the rest of the body is not read


class _Answer:
    """Sends an answer with the headers that all answers have."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode()
        self._has_begun = False
        self.status = 500

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._has_begun = True
            self.status = message["status"]
            message["headers"] = [*message["headers"], *_HEADERS, (b"x-request-id", self._request_id)]
        await self._send(message)

    async def refuse(self, refusal: Refusal, scope: Scope, receive: Receive) -> None:
        """Answer with an error, unless another answer has begun."""
        if not self._has_begun:
            await refusal.response()(scope, receive, self.send)


def _request_id(given: bytes | None) -> str:
    """Return the client's own id if it is well formed, else a new one."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode()
    return secrets.token_hex(8)


def _route(scope: Scope) -> str:
    path = getattr(scope.get("route"), "path", "other")
    return path if path in _KNOWN_ROUTES else "other"

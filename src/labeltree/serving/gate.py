"""What every request passes on its way in and out: tokens, limits, time, logs, counters and headers."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Mapping
from typing import Any

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeltree.serving.errors import Refusal
from labeltree.serving.limits import Limits
from labeltree.serving.logs import Exchange, RequestLog, log_event
from labeltree.serving.metrics import ROUTES, Metrics
from labeltree.serving.time_limit import TimeLimit
from labeltree.serving.tokens import Access, Tokens, access_of

#: Nothing is loaded from elsewhere, nothing runs that is not one of our files, and no page may have this one inside.
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
    """Pure ASGI, because every request pays for it.

    The time limit holds from the head of a request to the end of its answer. A thread that computes cannot be stopped:
    its request is answered and forgotten, but the thread counts as busy until it is done.

    Parameters
    ----------
    app : ASGI application
        What is behind the gate.
    shortcuts : mapping
        By their last words, those of its routes ``/v1/models/{name}/…`` that are gone to directly.
    limits, tokens, metrics, log
        What is heeded, counted and written.
    """

    def __init__(
        self,
        app: ASGIApp,
        shortcuts: Mapping[str, BaseRoute],
        limits: Limits,
        tokens: Tokens,
        metrics: Metrics,
        log: RequestLog,
    ) -> None:
        self._app = app
        self._shortcuts = shortcuts
        self._limits = limits
        self._tokens = tokens
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        exchange = scope["exchange"] = Exchange(_request_id(headers.get(b"x-request-id")), headers)
        answer = _Answer(send, exchange)
        metrics = self._metrics
        metrics.began()
        try:
            await self._pass(scope, exchange, receive, answer)
        except Refusal as refusal:
            await answer.refuse(refusal, scope, receive)
        except asyncio.CancelledError:  # the server stops
            raise
        except Exception as error:
            log_event("fault", level=logging.ERROR, error=error, request=exchange.id)
            await answer.refuse(Refusal(500, "the server has a fault; its log says more"), scope, receive)
        finally:
            metrics.ended()
            seconds = time.perf_counter() - exchange.started
            exchange.route = _route(scope)
            metrics.answered(exchange.route, answer.status, seconds)
            self._log.add(exchange, scope["method"], answer.status, seconds)

    async def _pass(self, scope: Scope, exchange: Exchange, receive: Receive, answer: _Answer) -> None:
        method, path = scope["method"], scope["path"]
        access = access_of(method, path)
        self._tokens.check(access, exchange.headers.get(b"authorization"))
        if access is not Access.OPEN and self._metrics.in_flight > self._limits.in_flight:
            raise Refusal(503, "the server has too much to do: come again", headers={"Retry-After": "1"})
        body = _Body(receive, exchange, self._limits.body_bytes)
        app = self._app
        matched = _MODEL_PATH.fullmatch(path) if method == "POST" else None
        if matched is not None and (route := self._shortcuts.get(matched[2])) is not None:
            scope["route"], scope["path_params"] = route, {"name": matched[1]}
            app = route.app  # type: ignore[attr-defined] # of those routes that have one
        with TimeLimit(self._limits.seconds) as limit:
            await app(scope, body.receive, answer.send)
        if limit.is_over:
            raise self._too_late(exchange)

    def _too_late(self, exchange: Exchange) -> Refusal:
        limit = f"{self._limits.seconds:g} seconds"
        if not exchange.body_is_read:
            return Refusal(408, f"the body did not come within {limit}", headers={"Connection": "close"})
        return Refusal(504, f"the answer took longer than {limit}; ask for less at once")


class _Body:
    """The body as it comes, as long as it is not too large."""

    def __init__(self, receive: Receive, exchange: Exchange, limit: int) -> None:
        self._receive = receive
        self._exchange = exchange
        self._limit = limit
        length = exchange.headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            raise self._too_large()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            exchange = self._exchange
            exchange.n_bytes += len(message.get("body", b""))
            if exchange.n_bytes > self._limit:
                raise self._too_large()
            exchange.body_is_read = not message.get("more_body", False)
        return message

    def _too_large(self) -> Refusal:
        return Refusal(
            413,
            f"the body may have at most {self._limit} bytes; send several requests",
            headers={"Connection": "close"},  # the rest of the body is not read
        )


class _Answer:
    """What is sent back, with the headers that all answers have."""

    def __init__(self, send: Send, exchange: Exchange) -> None:
        self._send = send
        self._request_id = exchange.id.encode()
        self._has_begun = False
        self.status = 500

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._has_begun = True
            self.status = message["status"]
            message["headers"] = [*message["headers"], *_HEADERS, (b"x-request-id", self._request_id)]
        await self._send(message)

    async def refuse(self, refusal: Refusal, scope: Scope, receive: Receive) -> None:
        """Answer with an error, unless half of another answer is out already."""
        if not self._has_begun:
            await refusal.response()(scope, receive, self.send)


def _request_id(given: bytes | None) -> str:
    """The client's own, if it is a decent one."""
    if given is not None and _REQUEST_ID.fullmatch(given):
        return given.decode()
    return secrets.token_hex(8)


def _route(scope: Scope) -> str:
    route: Any = scope.get("route")
    path = getattr(route, "path", "other")
    return path if path in _KNOWN_ROUTES else "other"

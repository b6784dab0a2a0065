"""The outermost layer of the application: checks tokens, limits and time, and logs and counts every request."""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from labeltree.serving.admission import Admission
from labeltree.serving.errors import Refusal, internal_error
from labeltree.serving.exchange import Exchange
from labeltree.serving.fast_lane import FastLane
from labeltree.serving.hosts import Hosts
from labeltree.serving.logs import log_event
from labeltree.serving.metrics import ROUTES
from labeltree.serving.service import Service
from labeltree.serving.time_limit import TimeLimit
from labeltree.serving.tokens import Access, access_of

_HEALTH = frozenset(["/healthz", "/readyz"])
#: Headers of which only one can be meant. Another server in front of this one may have taken the other one.
_ONCE = frozenset([b"host", b"authorization", b"content-type", b"content-encoding", b"idempotency-key"])
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
        self._limits = service.settings.limits
        self._admission = Admission(self._limits, service.metrics)
        self._hosts = Hosts(service.settings.allowed_hosts)
        self._tokens = service.settings.tokens
        self._metrics = service.metrics
        self._log = service.log
        self.fast_lane = FastLane(service, self._admission, self._hosts)
        self._shortcuts = {route.path.rpartition("/")[2]: route for route in shortcuts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = scope["exchange"] = Exchange(scope, receive, send, self._admission)
        try:
            await self._forward(scope, exchange)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except Exception as error:
            log_event("fault", level=logging.ERROR, error=error, request=exchange.id)
            await exchange.refuse(internal_error())
        finally:
            exchange.close()
            seconds = time.perf_counter() - exchange.started
            path = getattr(scope.get("route"), "path", "other")
            route = path if path in ROUTES else "other"
            self._metrics.answered(route, exchange.status, seconds)
            self._log.add(exchange, scope["method"], route, seconds)

    async def _forward(self, scope: Scope, exchange: Exchange) -> None:
        method, path, limits = scope["method"], scope["path"], self._limits
        if len(scope["headers"]) > limits.head_lines:
            message = f"at most {limits.head_lines} headers, got {len(scope['headers'])}"
            raise Refusal(431, message, headers={"Connection": "close"})
        access = access_of(method, path)
        if path not in _HEALTH:  # they tell nothing, and load balancers ask under any name
            if len(exchange.headers) != len(scope["headers"]):
                _refuse_repeated(scope["headers"])
            self._hosts.check(exchange.headers.get(b"host"))
        self._tokens.check(access, exchange.headers.get(b"authorization"))
        exchange.check_length()
        if method == "HEAD":  # the HTTP server leaves out the body
            scope = {**scope, "method": "GET"}
        app = self._app
        matched = _MODEL_PATH.fullmatch(path) if method == "POST" else None
        if matched is not None and (route := self._shortcuts.get(matched[2])) is not None:
            scope["route"], scope["path_params"] = route, {"name": matched[1]}
            app = route.app
            route.check_headers(exchange.headers)
        with TimeLimit(limits.seconds) as limit:
            exchange.limit = limit
            if app is not self._app:
                await exchange.read_body()
            self._admission.begin(exchange.client, always=access is Access.OPEN)
            try:
                await app(scope, exchange.receive, exchange.send)
            finally:
                self._admission.end(exchange.client)
        if not limit.is_over:
            return
        if exchange.body_is_read:
            raise Refusal(504, f"the answer took longer than {limits.seconds:g} seconds; ask for less")
        if exchange.is_too_slow:
            raise Refusal(
                408,
                f"the body is too slow: expected {limits.bytes_per_second:g} bytes a second, and no pause of more than "
                f"{limits.stall_seconds:g} seconds",
            )
        raise Refusal(408, f"the body did not arrive within {limits.seconds:g} seconds")


def _refuse_repeated(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a header that is there twice and must not be."""
    for name, n_times in Counter(name for name, _ in headers).items():
        if n_times > 1 and name in _ONCE:
            message = f"the header {name.decode().title()} is there {n_times} times; send it once"
            raise Refusal(400, message, "repeated_header")

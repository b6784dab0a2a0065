"""The outermost layer of the application: checks tokens, limits and time, and logs and counts every request."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from labeltree.serving.errors import Refusal, internal_error, overloaded
from labeltree.serving.exchange import Exchange
from labeltree.serving.logs import log_event
from labeltree.serving.metrics import ROUTES
from labeltree.serving.service import Service
from labeltree.serving.time_limit import TimeLimit
from labeltree.serving.tokens import Access, access_of

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
        self._tokens = service.settings.tokens
        self._metrics = service.metrics
        self._log = service.log
        self._shortcuts = {route.path.rpartition("/")[2]: route for route in shortcuts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = scope["exchange"] = Exchange(scope, receive, send, self._limits.body_bytes)
        self._metrics.began()
        try:
            await self._forward(scope, exchange)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except Exception as error:
            log_event("fault", level=logging.ERROR, error=error, request=exchange.id)
            await exchange.refuse(internal_error())
        finally:
            self._metrics.ended()
            seconds = time.perf_counter() - exchange.started
            path = getattr(scope.get("route"), "path", "other")
            route = path if path in ROUTES else "other"
            self._metrics.answered(route, exchange.status, seconds)
            self._log.add(exchange, scope["method"], route, seconds)

    async def _forward(self, scope: Scope, exchange: Exchange) -> None:
        method, path, limits = scope["method"], scope["path"], self._limits
        access = access_of(method, path)
        self._tokens.check(access, exchange.headers.get(b"authorization"))
        if access is not Access.OPEN and self._metrics.in_flight > limits.in_flight:
            raise overloaded()
        exchange.check_length()
        app = self._app
        matched = _MODEL_PATH.fullmatch(path) if method == "POST" else None
        if matched is not None and (route := self._shortcuts.get(matched[2])) is not None:
            scope["route"], scope["path_params"] = route, {"name": matched[1]}
            app = route.app
        with TimeLimit(limits.seconds) as limit:
            await app(scope, exchange.receive, exchange.send)
        if limit.is_over and exchange.body_is_read:
            raise Refusal(504, f"the answer took longer than {limits.seconds:g} seconds; ask for less")
        if limit.is_over:
            message = f"the body did not arrive within {limits.seconds:g} seconds"
            raise Refusal(408, message, headers={"Connection": "close"})

"""Small questions, which the protocol answers in one call, without a task and the layers of the application."""

from __future__ import annotations

import time
from typing import Any

from pydantic_core import to_json

from labeltree.serving import predictions
from labeltree.serving.admission import Admission
from labeltree.serving.bodies import parse
from labeltree.serving.exchange import HEADERS, PART_BYTES, Exchange
from labeltree.serving.hosts import Hosts
from labeltree.serving.lean_route import LeanRoute
from labeltree.serving.schemas import PredictRequest
from labeltree.serving.service import SMALL_BYTES, Service
from labeltree.serving.tokens import Access

_ROUTE = "/v1/models/{name}/predict"

#: Requests with one of these headers are left to uvicorn and to the layers of the application.
_UNUSUAL = frozenset([b"expect", b"origin", b"transfer-encoding", b"upgrade"])

#: More labels take long to write.
_MAX_LABELS = 100

_HEAD = b"".join(
    [
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n",
        *(name + b": " + value + b"\r\n" for name, value in HEADERS),
        b"x-request-id: %b\r\n\r\n",
    ]
)


class FastLane:
    """Answers a predict request of one row, if the model is fast and nothing about the request is unusual.

    uvicorn and asyncio take longer to hand a request to an application than a small prediction takes. All answers from
    here have the status 200: a request that would be refused, or that fails, goes the usual way, so the gate alone
    makes the answers to such requests. The limits are the same, and so are the bytes of the answer.

    Parameters
    ----------
    service : Service
    admission : Admission
        That of the gate.
    hosts : Hosts
        That of the gate.
    """

    def __init__(self, service: Service, admission: Admission, hosts: Hosts) -> None:
        self._service, self._admission, self._hosts = service, admission, hosts
        self._limits, self._tokens = service.settings.limits, service.settings.tokens
        self._max_bytes = min(SMALL_BYTES, self._limits.body_bytes)
        self._names = {_ROUTE.format(name=name).encode(): name for name in service.settings.models}

    def __contains__(self, url: bytes) -> bool:
        return url in self._names

    def answer(
        self, url: bytes, headers: list[tuple[bytes, bytes]], body: bytes, client: tuple[str, int] | None
    ) -> bytes | None:
        """Return the answer with its head, or None if the request must go the usual way."""
        service = self._service
        served = service.registry[self._names[url]]
        if not served.is_fast or served.prefers_batches or len(body) > self._max_bytes:
            return None
        exchange = Exchange({"headers": headers, "client": client}, _nobody, _nobody, self._admission)
        given = exchange.headers
        if not len(given) == len(headers) <= self._limits.head_lines or not _UNUSUAL.isdisjoint(given):
            return None
        try:
            self._hosts.check(given.get(b"host"))
            self._tokens.check(Access.READ, given.get(b"authorization"))
            LeanRoute.check_headers(given)
            request = parse(PredictRequest, body)
            exchange.rows = predictions.n_rows(request)
            if exchange.rows > 1 or request.k > _MAX_LABELS:
                return None
            predictions.check(served, request, 1, self._limits)
            self._admission.begin(exchange.client, always=False)
            try:
                started = time.perf_counter()
                predicted = predictions.predict(served, request)
                exchange.model_seconds = time.perf_counter() - started
            finally:
                self._admission.end(exchange.client)
        except Exception:  # the gate refuses it, or logs why it fails
            return None
        content = to_json(predicted)
        if len(content) > PART_BYTES:
            return None
        exchange.model, exchange.status = served.name, 200
        served.took(exchange.model_seconds)
        service.metrics.worked(served.name, 1, exchange.model_seconds)
        seconds = time.perf_counter() - exchange.started
        service.metrics.answered(_ROUTE, 200, seconds)
        service.log.add(exchange, "POST", _ROUTE, seconds)
        return _HEAD % (len(content), exchange.id.encode()) + content


async def _nobody(*message: Any) -> Any:
    """Nothing more is received, and nothing is sent in parts."""
    raise NotImplementedError

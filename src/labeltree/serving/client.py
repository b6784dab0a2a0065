"""Clients of the service, for programs that wait and for those that do not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

import httpx

from labeltree.serving import calls
from labeltree.serving.calls import Call, LabelCount, ModelDescription, Reloaded, Tag
from labeltree.serving.client_errors import ServiceUnavailableError

__all__ = ["AsyncClient", "Client"]

_Result = TypeVar("_Result")
_Labels = Collection[Any] | None
_Weights = str | Mapping[Any, float] | None

#: The server that `labeltree serve` starts.
LOCAL = "http://127.0.0.1:8000"


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


class Client:
    """Asks a server that `labeltree serve` started.

    Questions are asked again, up to `retries` times, where the server cannot be reached or says that it has too much to
    do; what changes something never is. May be used by many threads, and as a context manager.

    Parameters
    ----------
    url : str
        Where the server is.
    token : str, optional
        One of its tokens: for `reload` and `learn`, or for all where the server says so.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often a question is asked again.
    transport : httpx.BaseTransport, optional
        For tests and proxies.

    Examples
    --------
    >>> from labeltree.serving import Client
    >>> with Client("http://127.0.0.1:8000") as client:  # doctest: +SKIP
    ...     client.predict("paintings", ["A boat in a storm"], k=2)
    [[Tag(label='sea', probability=0.83), Tag(label='boat', probability=0.61)]]
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._http = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout, transport=transport)

    def models(self) -> list[ModelDescription]:
        """All models that are served."""
        return self._send(calls.models())

    def predict(
        self,
        model: str,
        texts: Sequence[str] | None = None,
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        features: Sequence[Mapping[str, Any]] | None = None,
        k: int = 5,
        threshold: float = 0.0,
        allow: _Labels = None,
        deny: _Labels = None,
        label_weight: _Weights = None,
    ) -> list[list[Tag]]:
        """The most probable labels of each text, sparse row ``{"indices": …, "values": …}`` or named features."""
        asked = {"texts": texts, "rows": rows, "features": features}
        return self._send(
            calls.predict(model, asked, **calls.options(k, threshold, allow, deny, label_weight))
        )

    def explain(
        self,
        model: str,
        text: str | None = None,
        *,
        label: Any,
        row: Mapping[str, Any] | None = None,
        features: Mapping[str, Any] | None = None,
        n_features: int = 10,
    ) -> dict[str, Any]:
        """Why a text or row has its probability for a label: the answer as it is, with `paths` and `highlights`."""
        asked = {"text": text, "row": row, "features": features}
        return self._send(calls.explain(model, asked, label, n_features))

    def labels(self, model: str, query: str = "", *, limit: int = 20, offset: int = 0) -> list[LabelCount]:
        """Labels with `query` in their name."""
        return self._send(calls.labels(model, query, limit, offset))

    def reload(self, model: str) -> Reloaded:
        """Have a model loaded anew from its directory."""
        return self._send(calls.reload(model))

    def learn(self, model: str, examples: Sequence[Mapping[str, Any]]) -> int:
        """Have an online model learn examples ``{"text": …, "labels": […]}``; how many it has learned in all."""
        return self._send(calls.learn(model, examples))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, call: Call[_Result]) -> _Result:
        for attempt in range(self._retries + 1):
            may_repeat = call.may_repeat and attempt < self._retries
            try:
                response = self._http.request(call.method, call.path, json=call.body, params=call.query)
            except httpx.TransportError as error:
                if not may_repeat:
                    raise ServiceUnavailableError(0, "no_answer", f"there was no answer: {error}") from error
                time.sleep(calls.seconds_to_wait(None, attempt))
                continue
            if response.status_code == 503 and may_repeat:
                time.sleep(calls.seconds_to_wait(response.headers.get("retry-after"), attempt))
                continue
            return _read(call, response)
        raise AssertionError("the last attempt returns or raises")


class AsyncClient:
    """As `Client`, for programs with an event loop.

    Examples
    --------
    >>> from labeltree.serving import AsyncClient
    >>> async def tags(text):
    ...     async with AsyncClient("http://127.0.0.1:8000") as client:
    ...         return await client.predict("paintings", [text], k=2)
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._http = httpx.AsyncClient(
            base_url=url, headers=_headers(token), timeout=timeout, transport=transport
        )

    async def models(self) -> list[ModelDescription]:
        """All models that are served."""
        return await self._send(calls.models())

    async def predict(
        self,
        model: str,
        texts: Sequence[str] | None = None,
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        features: Sequence[Mapping[str, Any]] | None = None,
        k: int = 5,
        threshold: float = 0.0,
        allow: _Labels = None,
        deny: _Labels = None,
        label_weight: _Weights = None,
    ) -> list[list[Tag]]:
        """As `Client.predict`."""
        asked = {"texts": texts, "rows": rows, "features": features}
        return await self._send(
            calls.predict(model, asked, **calls.options(k, threshold, allow, deny, label_weight))
        )

    async def explain(
        self,
        model: str,
        text: str | None = None,
        *,
        label: Any,
        row: Mapping[str, Any] | None = None,
        features: Mapping[str, Any] | None = None,
        n_features: int = 10,
    ) -> dict[str, Any]:
        """As `Client.explain`."""
        asked = {"text": text, "row": row, "features": features}
        return await self._send(calls.explain(model, asked, label, n_features))

    async def labels(
        self, model: str, query: str = "", *, limit: int = 20, offset: int = 0
    ) -> list[LabelCount]:
        """As `Client.labels`."""
        return await self._send(calls.labels(model, query, limit, offset))

    async def reload(self, model: str) -> Reloaded:
        """As `Client.reload`."""
        return await self._send(calls.reload(model))

    async def learn(self, model: str, examples: Sequence[Mapping[str, Any]]) -> int:
        """As `Client.learn`."""
        return await self._send(calls.learn(model, examples))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, call: Call[_Result]) -> _Result:
        for attempt in range(self._retries + 1):
            may_repeat = call.may_repeat and attempt < self._retries
            try:
                response = await self._http.request(call.method, call.path, json=call.body, params=call.query)
            except httpx.TransportError as error:
                if not may_repeat:
                    raise ServiceUnavailableError(0, "no_answer", f"there was no answer: {error}") from error
                await asyncio.sleep(calls.seconds_to_wait(None, attempt))
                continue
            if response.status_code == 503 and may_repeat:
                await asyncio.sleep(calls.seconds_to_wait(response.headers.get("retry-after"), attempt))
                continue
            return _read(call, response)
        raise AssertionError("the last attempt returns or raises")


def _read(call: Call[_Result], response: httpx.Response) -> _Result:
    if response.is_success:
        return call.read(response.json())
    try:
        answer = response.json()
    except ValueError:  # of something between us and the server
        answer = None
    raise calls.refusal(response.status_code, answer)

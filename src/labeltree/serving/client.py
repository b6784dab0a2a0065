"""A synchronous and an asynchronous client of the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import httpx

from labeltree.serving import client_calls as calls
from labeltree.serving.client_calls import Call, LabelCount, ModelDescription, Reloaded, Tag

__all__ = ["AsyncClient", "Client"]

_Result = TypeVar("_Result")
_Labels = Collection[Any] | None
_Weights = str | Mapping[Any, float] | None

#: The default address of `labeltree serve`.
LOCAL = "http://127.0.0.1:8000"


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


class Client:
    """A client of `labeltree serve`.

    A question is retried when the server is busy or cannot be reached; `reload` and `learn` are never retried. Several
    threads can share a client. It is a context manager, too.

    Parameters
    ----------
    url : str
        Address of the server.
    token : str, optional
        One of the server's tokens. `reload` and `learn` need it, and all other requests too if the server says so.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        Maximum number of retries.
    transport : httpx.BaseTransport, optional
        Passed to httpx, for tests and proxies.

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
        """Return all models that are served."""
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
        """Return the most probable labels of each text, sparse row ``{"indices": …, "values": …}`` or features."""
        inputs = {"texts": texts, "rows": rows, "features": features}
        return self._send(calls.predict(model, inputs, k, threshold, allow, deny, label_weight))

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
        """Explain the probability of a label: return the JSON of the answer, with `paths` and `highlights`."""
        inputs = {"text": text, "row": row, "features": features}
        return self._send(calls.explain(model, inputs, label, n_features))

    def labels(self, model: str, query: str = "", *, limit: int = 20, offset: int = 0) -> list[LabelCount]:
        """Return labels with `query` in their name."""
        return self._send(calls.labels(model, query, limit, offset))

    def reload(self, model: str) -> Reloaded:
        """Reload a model from its directory."""
        return self._send(calls.reload(model))

    def learn(self, model: str, examples: Sequence[Mapping[str, Any]]) -> int:
        """Let an online model learn examples ``{"text": …, "labels": […]}``; return its total number of examples."""
        return self._send(calls.learn(model, examples))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _send(self, call: Call[_Result]) -> _Result:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(call.method, call.path, json=call.body, params=call.query)
            except httpx.TransportError as error:
                outcome = error
            seconds = call.seconds_before_retry(outcome, attempt, self._retries)
            if seconds is None:
                return call.result(outcome)
            time.sleep(seconds)
            attempt += 1


class AsyncClient:
    """Like `Client`, for programs with an event loop.

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
        headers = _headers(token)
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)

    async def models(self) -> list[ModelDescription]:
        """Return all models that are served."""
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
        """Like `Client.predict`."""
        inputs = {"texts": texts, "rows": rows, "features": features}
        return await self._send(calls.predict(model, inputs, k, threshold, allow, deny, label_weight))

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
        """Like `Client.explain`."""
        inputs = {"text": text, "row": row, "features": features}
        return await self._send(calls.explain(model, inputs, label, n_features))

    async def labels(
        self, model: str, query: str = "", *, limit: int = 20, offset: int = 0
    ) -> list[LabelCount]:
        """Like `Client.labels`."""
        return await self._send(calls.labels(model, query, limit, offset))

    async def reload(self, model: str) -> Reloaded:
        """Like `Client.reload`."""
        return await self._send(calls.reload(model))

    async def learn(self, model: str, examples: Sequence[Mapping[str, Any]]) -> int:
        """Like `Client.learn`."""
        return await self._send(calls.learn(model, examples))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _send(self, call: Call[_Result]) -> _Result:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(call.method, call.path, json=call.body, params=call.query)
            except httpx.TransportError as error:
                outcome = error
            seconds = call.seconds_before_retry(outcome, attempt, self._retries)
            if seconds is None:
                return call.result(outcome)
            await asyncio.sleep(seconds)
            attempt += 1

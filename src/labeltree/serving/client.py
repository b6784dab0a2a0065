"""A synchronous and an asynchronous client of the server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

from labeltree.serving.client_calls import Call, Calls

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Build = Callable[Concatenate[Any, _P], Call[_R]]  # a method of `Calls`

#: The default address of `labeltree serve`.
LOCAL = "http://127.0.0.1:8000"


def _method(build: _Build[_P, _R]) -> Callable[Concatenate[Client, _P], _R]:
    """Return a method of `Client` that sends a call and returns its result."""

    @wraps(build)
    def method(self: Client, /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        return self._send(build(self, *arguments, **options))

    return method


def _async_method(build: _Build[_P, _R]) -> Callable[Concatenate[AsyncClient, _P], Coroutine[Any, Any, _R]]:
    """Return a method of `AsyncClient` that sends a call and returns its result."""

    @wraps(build)
    async def method(self: AsyncClient, /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        return await self._send(build(self, *arguments, **options))

    return method


class Client:
    """A client of `labeltree serve`.

    A question is retried when the server is busy or cannot be reached, and so is `learn`, which never learns examples
    twice; `reload` is never retried. Several threads can share a client. It is a context manager, too.

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

    models = _method(Calls.models)
    predict = _method(Calls.predict)
    explain = _method(Calls.explain)
    labels = _method(Calls.labels)
    reload = _method(Calls.reload)
    learn = _method(Calls.learn)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _send(self, call: Call[_R]) -> _R:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(
                    call.method, call.path, json=call.body, params=call.query, headers=call.headers
                )
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

    models = _async_method(Calls.models)
    predict = _async_method(Calls.predict)
    explain = _async_method(Calls.explain)
    labels = _async_method(Calls.labels)
    reload = _async_method(Calls.reload)
    learn = _async_method(Calls.learn)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _send(self, call: Call[_R]) -> _R:
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(
                    call.method, call.path, json=call.body, params=call.query, headers=call.headers
                )
            except httpx.TransportError as error:
                outcome = error
            seconds = call.seconds_before_retry(outcome, attempt, self._retries)
            if seconds is None:
                return call.result(outcome)
            await asyncio.sleep(seconds)
            attempt += 1


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}

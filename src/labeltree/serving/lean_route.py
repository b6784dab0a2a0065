"""A route that FastAPI describes, but that is answered without what FastAPI does for each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from labeltree.serving.errors import Refusal, mistakes


class LeanRoute(APIRoute):
    """For requests with a body, which are most. That FastAPI finds out what the function wants, which here is always
    the same, and passes the request through its layers, takes longer than a small prediction. And the body is read by
    a parser that takes nothing but JSON, neither NaN nor halves of characters.

    Parameters
    ----------
    path : str
        ``/v1/models/{name}/`` and a word.
    endpoint : async callable
        Takes the scope of the request, the name and the body, and returns what becomes JSON.
    body : pydantic model
        What the body must be.
    **options
        As of `APIRoute`, for the description.
    """

    def __init__(
        self, path: str, endpoint: Callable[..., Any], body: type[BaseModel], **options: Any
    ) -> None:
        super().__init__(path, endpoint, methods=["POST"], **options)
        self._validate = body.__pydantic_validator__.validate_json
        self.app = self._answer

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        _check_content_type(scope["exchange"].headers.get(b"content-type"))
        try:
            body = self._validate(await _whole(receive))
        except ValidationError as error:
            raise mistakes(error.errors(include_url=False, include_input=False)) from None
        answer = to_json(await self.endpoint(scope, scope["path_params"]["name"], body))
        length = b"%d" % len(answer)
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


async def _whole(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    parts = [body]
    while message.get("more_body", False):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "the connection was closed before the body was complete")
        parts.append(message.get("body", b""))
    return b"".join(parts)


def _check_content_type(given: bytes | None) -> None:
    """Refuse a body that is said to be something else than JSON."""
    if given is None or given == b"application/json":
        return
    kind = given.decode("latin-1").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refusal(415, f"expected Content-Type: application/json, got {kind[:60]!r}")

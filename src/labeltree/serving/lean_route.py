"""A route that FastAPI describes, but that answers without FastAPI's work for each request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from labeltree.serving.bodies import PIECE_BYTES, parse
from labeltree.serving.errors import Refusal


class LeanRoute(APIRoute):
    """A route for requests with a body, which are most requests.

    FastAPI takes longer to resolve the arguments of an endpoint than a small prediction takes. All endpoints with a
    body have the same arguments, so this route passes them itself. It also accepts strict JSON only: no NaN, no half
    of a surrogate pair, and no key twice. The gate reads the body before it calls the route.

    Parameters
    ----------
    path : str
        ``/v1/models/{name}/`` and a word.
    endpoint : async callable
        Takes the service, the exchange, the served model and the body, a pydantic model. Returns an object that becomes
        JSON, or JSON as bytes.
    **options
        Passed to `APIRoute`, for the description.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self._body: type[BaseModel] = get_type_hints(endpoint)["body"]
        self.app = self._answer

    @staticmethod
    def check_headers(headers: Mapping[bytes, bytes]) -> None:
        """Refuse a body that is not JSON or is compressed, before it is read."""
        given = headers.get(b"content-type", b"application/json")
        if given != b"application/json":
            kind = given.decode("latin-1").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise Refusal(415, f"expected Content-Type: application/json, got {kind[:60]!r}")
        refuse_compressed(headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        service, exchange = scope["app"].state.service, scope["exchange"]
        if exchange.n_bytes <= PIECE_BYTES:
            body = parse(self._body, exchange.body)
        else:
            body = await service.parse(self._body, exchange.body)
        served = service.registry[scope["path_params"]["name"]]
        answer = await self.endpoint(service, exchange, served, body)
        await exchange.answer(answer if isinstance(answer, bytes) else to_json(answer))


def refuse_compressed(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body that is compressed."""
    coding = headers.get(b"content-encoding")
    if coding is not None and coding.strip().lower() not in (b"identity", b""):
        shown = coding.decode("latin-1")[:60]
        message = f"the body may not be compressed, but has Content-Encoding: {shown!r}; send it as it is"
        raise Refusal(415, message, "compressed_body", {"Accept-Encoding": "identity"})

"""Suggestions for Annif, whose backend ``http`` sends a text as a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from pydantic import ValidationError
from pydantic_core import to_json
from starlette.types import Receive, Scope, Send

from labeltree.serving import rows
from labeltree.serving.bodies import PIECE_BYTES
from labeltree.serving.errors import Refusal, invalid_request
from labeltree.serving.label_search import text_of
from labeltree.serving.lean_route import LeanRoute, refuse_compressed
from labeltree.serving.limits import Limits
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import SuggestRequest

FORM = "application/x-www-form-urlencoded"

#: Maximum number of fields of a form. Annif sends one for each column of its metadata.
MAX_FIELDS = 100


class FormRoute(LeanRoute):
    """A route like `LeanRoute` whose body is a form instead of JSON."""

    @staticmethod
    def check_headers(headers: Mapping[bytes, bytes]) -> None:
        """Refuse a body that is not a form or is compressed, before it is read."""
        kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        if kind != FORM:
            raise Refusal(415, f"expected Content-Type: {FORM}, got {kind[:60]!r}", "not_a_form")
        refuse_compressed(headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        service, exchange = scope["app"].state.service, scope["exchange"]
        if exchange.n_bytes <= PIECE_BYTES:
            body = parse_form(exchange.body)
        else:
            body = await service.run_large(parse_form, exchange.body)
        served = service.registry[scope["path_params"]["name"]]
        await exchange.answer(to_json(await self.endpoint(service, exchange, served, body)))


def parse_form(body: bytes) -> SuggestRequest:
    """Return a form as a checked object. Fields ``metadata_…`` are ignored: Annif sends all that it knows."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except UnicodeDecodeError:
        raise Refusal(
            400, "the form must be ASCII, with other characters as UTF-8 in %xx", "invalid_form"
        ) from None
    except ValueError as error:
        reason = f"more than {MAX_FIELDS} fields" if "fields" in str(error) else "a field without '='"
        raise Refusal(400, f"the body is not a form: it has {reason}", "invalid_form") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name.startswith("metadata_"):
            continue
        if name in fields:
            raise Refusal(422, "a field of the form is there twice", "repeated_key")
        fields[name] = value
    try:
        return SuggestRequest.model_validate_strings(fields)
    except ValidationError as error:
        raise invalid_request(error.errors(include_url=False, include_input=False)) from None


def check(served: ServedModel, request: SuggestRequest, limits: Limits) -> None:
    """Refuse a request that exceeds the limits, or is to a model of numbers."""
    rows.check_takes_text(served)
    limits.check_count("limit", request.limit)
    limits.check_texts("text", (request.text,))


def suggest(served: ServedModel, request: SuggestRequest) -> dict[str, Any]:
    """Return the content of a `SuggestAnswer`."""
    X = rows.of_texts(served, [request.text])
    top = served.model.predict_topk(X, request.limit, threshold=request.threshold)
    names = served.model.model_.label_names or {}
    return {
        "results": [
            {"uri": text_of(label), "label": names.get(label) or text_of(label), "score": score}
            for label, score in zip(top.labels[0].tolist(), top.probabilities[0].tolist(), strict=True)
            if score > 0
        ]
    }

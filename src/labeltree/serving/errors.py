"""What the service refuses, and how it says so: always ``{"error": {"code": …, "message": …}}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails, to_json
from starlette.responses import Response

#: The codes of answers that have none of their own.
CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    409: "conflict",
    413: "body_too_large",
    415: "not_json",
    422: "invalid_request",
    500: "internal_error",
    503: "overloaded",
    504: "took_too_long",
}

#: More mistakes than these are not told.
_MOST_MISTAKES = 3


#: What pydantic says besides the place: where the request has it, and which of several types it tried.
_NO_PLACES = frozenset(
    ["body", "query", "path", "str", "int", "float", "bool", "constrained-int", "constrained-float"]
)


class Refusal(Exception):  # noqa: N818 - an answer rather than a failure
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What was expected, what came and what to do; never a text of the user's.
    code : str, optional
        A word for programs; by default that of the status.
    headers : mapping, optional
        Headers of the answer.
    """

    def __init__(
        self, status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code or CODES.get(status, "error")
        self.message = message
        self.headers = headers

    def response(self) -> Response:
        """The answer."""
        body = {"error": {"code": self.code, "message": self.message}}
        return Response(to_json(body), self.status, self.headers, media_type="application/json")


def mistakes(errors: Sequence[ErrorDetails] | Iterable[Any]) -> Refusal:
    """What pydantic found wrong with a request, without the values that were wrong."""
    found = list(errors)
    if any(error["type"] == "json_invalid" for error in found):
        return Refusal(400, f"the body is not JSON: {_reason(found[0])}", "invalid_json")
    reasons: dict[str, list[str]] = {}  # what may be one of several things can be wrong in several ways
    for error in found:
        reasons.setdefault(_place(error["loc"]), []).append(_reason(error))
    told = [f"{place}{' or: '.join(dict.fromkeys(why))}" for place, why in reasons.items()]
    more = f"; and {len(told) - _MOST_MISTAKES} more" if len(told) > _MOST_MISTAKES else ""
    return Refusal(422, "; ".join(told[:_MOST_MISTAKES]) + more)


def _reason(error: Any) -> str:
    context = error.get("ctx") or {}
    if isinstance(context.get("error"), ValueError):  # one of our own
        return str(context["error"])
    return str(context.get("error") or error["msg"])


def _place(location: Iterable[int | str]) -> str:
    """Where in the request: ``rows[2].indices[0]``."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part not in _NO_PLACES and "[" not in part:
            place += f".{part}" if place else part
    return f"{place}: " if place else ""

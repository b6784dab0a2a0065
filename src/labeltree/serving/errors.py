"""Requests that fail: every error answer is ``{"error": {"code": …, "message": …}}``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

#: The statuses of error answers, each with its default code and its meaning.
STATUSES = {
    400: ("bad_request", "The body is not JSON or not a form, or a header is there twice."),
    401: ("unauthorized", "The request needs a token, and its token is missing or wrong."),
    403: ("forbidden", "The server has no tokens, so it accepts no changes."),
    404: ("not_found", "There is no such model, label or node."),
    405: ("method_not_allowed", "This path does not accept the method."),
    408: ("request_timeout", "The body did not arrive in time."),
    409: ("conflict", "The model cannot do this."),
    413: ("body_too_large", "The body is too large."),
    414: ("address_too_long", "The address is too long."),
    415: (
        "not_json",
        "The content type is not JSON, or not a form for suggestions, or the body is compressed.",
    ),
    421: ("wrong_host", "The server does not answer for this host name."),
    422: ("invalid_request", "The request is invalid; the message says where and why."),
    431: ("head_too_large", "The head is too large."),
    500: ("internal_error", "The server failed."),
    503: ("overloaded", "The server is busy: retry after the number of seconds in Retry-After."),
    504: ("took_too_long", "The answer took too long."),
    507: ("disk_full", "The disk is full: nothing was learned."),
}

#: The maximum number of mistakes in one message.
_MAX_MISTAKES = 3

#: The maximum length of a name in a message; a request may have any.
_LONGEST_NAME = 100

#: Parts of pydantic's locations that are not places in the body: the part of the request, and types in a union.
_NOT_PLACES = frozenset(["body", "query", "path", "str", "bool", "constrained-int", "constrained-float"])


class Refusal(Exception):  # noqa: N818 - an answer rather than a failure
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        HTTP status.
    message : str
        What was expected, what came and what to do; never a text of the user's.
    code : str, optional
        A word for programs. The default depends on the status.
    headers : mapping, optional
        Headers of the answer.
    """

    def __init__(
        self, status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code or STATUSES.get(status, ("error",))[0]
        self.message = message
        self.headers = headers

    def response(self) -> Response:
        """Return the answer."""
        body = {"error": {"code": self.code, "message": self.message}}
        return Response(to_json(body), self.status, self.headers, media_type="application/json")


def overloaded(message: str = "the server is busy: retry later") -> Refusal:
    """Return the refusal of a request that the client should retry."""
    return Refusal(503, message, headers={"Retry-After": "1"})


def damaged(models: str) -> Refusal:
    """Return the refusal of a question to a model whose files are damaged."""
    message = f"the files of the model {models} are damaged: save the model again, or restore its files, and reload it"
    return Refusal(503, message, "damaged_model", {"Retry-After": "60"})


def internal_error() -> Refusal:
    """Return the refusal of a request that failed for an unexpected reason."""
    return Refusal(500, "the server failed; its log has the details")


def invalid_request(errors: Iterable[Any]) -> Refusal:
    """Return the refusal for errors that pydantic found; its message leaves out the wrong values."""
    errors = list(errors)
    if any(error["type"] == "json_invalid" for error in errors):
        return Refusal(400, f"the body is not JSON: {_reason(errors[0])}", "invalid_json")
    reasons: dict[str, list[str]] = {}  # a union fails once for each of its types
    for error in errors:
        reasons.setdefault(_place(error["loc"]), []).append(_reason(error))
    mistakes = [f"{place}{' or: '.join(dict.fromkeys(why))}" for place, why in reasons.items()]
    n_more = len(mistakes) - _MAX_MISTAKES
    return Refusal(422, "; ".join(mistakes[:_MAX_MISTAKES]) + (f"; and {n_more} more" if n_more > 0 else ""))


def _reason(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        return "there is no such field"
    return str((error.get("ctx") or {}).get("error") or error["msg"])


def _place(location: Iterable[int | str]) -> str:
    """Return the place of an error in the request, as ``rows[2].indices[0]: ``."""
    place = ""
    for part in location:
        if isinstance(part, int):
            place += f"[{part}]"
        elif part not in _NOT_PLACES and "[" not in part:
            name = part if len(part) <= _LONGEST_NAME else f"{part[: _LONGEST_NAME - 1]}…"
            place += f".{name}" if place else name
    return f"{place}: " if place else ""

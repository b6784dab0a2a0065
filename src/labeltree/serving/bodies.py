"""The JSON of a body: checked on the event loop if it is small, else in a thread and in pieces.

pydantic keeps all other threads waiting while it checks a document, for seconds if a hostile one has 8 MB. So a large
document is cut between the elements of its lists, and its pieces are checked one after the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from labeltree.model_file.strict_json import repeated_name
from labeltree.serving.errors import Refusal, invalid_request
from labeltree.serving.limits import Limits

#: A body of at most this many bytes is checked in one piece; a larger one is cut into pieces of about this size.
PIECE_BYTES = 8192

#: Maximum number of fields in the outermost object.
MAX_FIELDS = 50

#: Maximum depth of a body; pydantic has the same limit.
MAX_DEPTH = 200

#: Lists with a limit on their length.
_ROWS = frozenset(["texts", "rows", "features", "examples"])

#: An object that is checked as a whole; its parts depend on each other.
_WHOLE = frozenset(["row"])

#: A longer key is not the name of a field, even if all of its characters are escaped.
_KEY_BYTES = 100

_IS_MARK = np.zeros(256, bool)
_IS_MARK[list(b",[]{}")] = True
_STEP = np.zeros(256, np.int32)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1


def parse(model: type[BaseModel], body: bytes, name: str = "", first: int = 0) -> Any:
    """Return a small body as a checked object. If it has a piece of the list `name`, the piece begins at `first`."""
    try:
        request = model.__pydantic_validator__.validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        for one in errors:  # errors name elements of the whole list
            if one["loc"][:1] == (name,) and len(one["loc"]) > 1 and isinstance(one["loc"][1], int):
                one["loc"] = (name, one["loc"][1] + first, *one["loc"][2:])
        raise invalid_request(errors) from None
    # Each key has a colon. If there are no more colons than keys, no key is there twice.
    if body.count(b":") != len(request.model_fields_set):
        _refuse_repeated_keys(body)
    return request


def parse_large(model: type[BaseModel], body: bytes, limits: Limits) -> Any:
    """Return a large body as a checked object; to be called in a thread."""
    containers = _containers(body, limits)
    whole: Any = parse(model, _with(body, containers))
    for container in containers:
        for piece in container.pieces[1:]:
            shorter = _with(body, containers, container, piece)
            part = parse(model, shorter, container.name, piece.first)
            _extend(getattr(whole, container.name), getattr(part, container.name))
    return whole


@dataclass
class _Piece:
    """Some elements of a list or object: where they are in the body, and the number of the first."""

    begin: int
    end: int
    first: int


@dataclass
class _Container:
    """A list or object that is the value of a field of the body, without its brackets."""

    name: str
    begin: int
    end: int
    pieces: list[_Piece]


def _containers(body: bytes, limits: Limits) -> list[_Container]:
    """Find the lists and objects of the body, and check their size."""
    marks, kinds, depths = _structure(body)
    if np.count_nonzero((kinds == ord(",")) & (depths == 1)) >= MAX_FIELDS:
        raise Refusal(422, f"the body may have at most {MAX_FIELDS} fields")
    opens = np.flatnonzero((depths == 2) & (_STEP[kinds] == 1))
    closes = np.flatnonzero((depths == 1) & (_STEP[kinds] == -1))
    found = []
    for first, last in zip(opens.tolist(), closes.tolist(), strict=True):
        begin, end = int(marks[first]) + 1, int(marks[last])
        name = _key_before(body, begin - 1)
        is_comma = (kinds[first:last] == ord(",")) & (depths[first:last] == 2)
        commas = np.flatnonzero(is_comma) + first
        if name in _ROWS and kinds[first] == ord("["):
            limits.check_rows(name, len(commas) + 1)
        # The marks between two commas are about as many as the values.
        n_values = np.diff(np.concatenate([[first], commas, [last]]))
        if name in _WHOLE:
            n_values, commas = n_values.sum(keepdims=True), commas[:0]
        if n_values.max() > limits.row_values:
            place = f"{name}[{int(n_values.argmax())}]" if kinds[first] == ord("[") else name
            raise Refusal(422, f"{place}: at most {limits.row_values} values", "row_too_long")
        pieces = _cut(begin, end, marks[commas])
        if len(pieces) > 1 and any(not body[piece.begin : piece.end].strip() for piece in pieces):
            raise Refusal(400, f"the body is not JSON: {name} has a comma too many", "invalid_json")
        found.append(_Container(name, begin, end, pieces))
    return found


def _key_before(body: bytes, end: int) -> str:
    """Return the key of the list or object that begins at `end`; any space may lie between the two."""
    last = body.rfind(b'"', 0, end)
    first = body.rfind(b'"', 0, max(0, last))
    try:
        key = json.loads(body[first : last + 1]) if last - first <= _KEY_BYTES else ""
    except ValueError:  # the body is a list, or not JSON
        key = ""
    return key if key and key.isascii() else "the body"  # no field has another name


def _structure(body: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]:
    """Return the places and kinds of commas and brackets outside of strings, and the depth after each."""
    plain = body.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    characters = np.frombuffer(plain, np.uint8)
    quotes = np.flatnonzero(characters == ord('"'))
    marks = np.flatnonzero(_IS_MARK[characters])
    marks = marks[np.searchsorted(quotes, marks) % 2 == 0]
    kinds = characters[marks]
    depths = np.cumsum(_STEP[kinds], dtype=np.int32)
    if len(quotes) % 2 or not len(depths) or depths[-1] != 0 or depths[:-1].min(initial=1) < 1:
        raise Refusal(400, "the body is not JSON: its quotes and brackets do not match", "invalid_json")
    if depths.max() > MAX_DEPTH:
        message = f"the body is not JSON of a request: it is nested more than {MAX_DEPTH} times"
        raise Refusal(400, message, "invalid_json")
    return marks, kinds, depths


def _cut(begin: int, end: int, commas: NDArray[np.int64]) -> list[_Piece]:
    pieces: list[_Piece] = []
    first = 0
    while True:
        # The last comma within a piece, or the next one if an element is longer.
        after = max(int(np.searchsorted(commas, begin + PIECE_BYTES)), first + 1)
        if after > len(commas):
            return [*pieces, _Piece(begin, end, first)]
        comma = int(commas[after - 1])
        pieces.append(_Piece(begin, comma, first))
        begin, first = comma + 1, after


def _with(
    body: bytes,
    containers: list[_Container],
    chosen: _Container | None = None,
    piece: _Piece | None = None,
) -> bytes:
    """Return the body with the first piece of each container, or with another piece of a chosen one."""
    parts, begin = [], 0
    for container in containers:
        wanted = piece if container is chosen and piece is not None else container.pieces[0]
        parts += [body[begin : container.begin], body[wanted.begin : wanted.end]]
        begin = container.end
    return b"".join([*parts, body[begin:]])


def _extend(whole: Any, part: Any) -> None:
    if isinstance(whole, list):
        whole.extend(part)
        return
    for key in part:
        if key in whole:
            raise _repeated(key)
    whole.update(part)


def _refuse_repeated_keys(body: bytes) -> None:
    """Refuse an object that has a key twice; pydantic would take the last."""
    json.loads(body, object_pairs_hook=_unique_keys)


def _unique_keys(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _repeated(repeated_name(pairs))


def _repeated(key: str) -> Refusal:
    shown = key if len(key) <= 60 else f"{key[:57]}…"
    return Refusal(422, f"the key {shown!r} is there twice in one object", "repeated_key")

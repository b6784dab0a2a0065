"""A line of JSON lines: an object with a text or with features, and with labels."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .lines import LineError

_LARGEST = float(np.finfo(np.float32).max)


def parse_object(line: str) -> dict[str, Any]:
    """The object that a line holds."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise LineError(f"expected a JSON object, but: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, brackets too deep
        raise LineError(f"expected a JSON object, but: {error}") from None
    if not isinstance(record, dict):
        raise LineError(f"expected a JSON object, got {_kind(record)}")
    return record


def text_of(record: dict[str, Any], key: str) -> str:
    """The text under a key."""
    value = _member(record, key)
    if not isinstance(value, str):
        raise LineError(f"expected a string as {key!r}, got {_kind(value)}")
    return value


def labels_of(record: dict[str, Any], key: str) -> list[str]:
    """The list of labels under a key."""
    value = _member(record, key)
    if not isinstance(value, list):
        raise LineError(f"expected a list of strings as {key!r}, got {_kind(value)}")
    for label in value:
        if not isinstance(label, str):
            raise LineError(f"expected a list of strings as {key!r}, got a list with {_kind(label)}")
    return value


def features_of(record: dict[str, Any], key: str) -> dict[str, float | str]:
    """The features under a key, by name: numbers that are finite as float32, truth values or texts."""
    value = _member(record, key)
    if not isinstance(value, dict):
        raise LineError(f"expected an object of names and values as {key!r}, got {_kind(value)}")
    for name, member in value.items():
        if isinstance(member, str):
            continue
        if not isinstance(member, int | float):
            raise LineError(f"expected a number or a text as the feature {name!r}, got {_kind(member)}")
        if not -_LARGEST <= member <= _LARGEST:
            raise LineError(f"expected a finite float32 as the feature {name!r}, got {str(member)[:20]}")
    return value


def _member(record: dict[str, Any], key: str) -> Any:
    if key not in record:
        keys = ", ".join(map(repr, list(record)[:10])) or "none"
        raise LineError(f"expected an object with the key {key!r}, got the keys {keys}")
    return record[key]


def _kind(value: object) -> str:
    kinds = {str: "a string", list: "a list", dict: "an object", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")

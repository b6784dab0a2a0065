"""Texts as JSON lines: an object per line."""

from __future__ import annotations

import json
from typing import Any

from labeltree.errors import DataFormatError

from .sources import Source, read_lines, source_name


def read_jsonl(
    path: Source, text: str = "text", labels: str | None = "labels"
) -> tuple[list[str], list[list[str]]]:
    """Read lines such as ``{"text": "A fishing boat", "labels": ["sea", "boat"]}``.

    Other keys are ignored, and so are blank lines.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed.
    text : str, default="text"
        The key of the text, a string.
    labels : str or None, default="labels"
        The key of the labels, a list of strings. None reads texts that have none.

    Returns
    -------
    texts : list of str
    labels : list of list of str
        The labels of each text; empty lists when `labels` is None.

    Raises
    ------
    DataFormatError
        With file and line, when a line is not UTF-8, is not a JSON object, lacks a key, or has something of
        another type there.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_jsonl
    >>> read_jsonl(io.BytesIO(b'{"text": "A fishing boat", "labels": ["sea", "boat"]}\\n'))
    (['A fishing boat'], [['sea', 'boat']])
    """
    all_texts, all_labels = [], []
    for number, line in read_lines(path):
        if not line.strip(" \t"):
            continue
        try:
            record = _parse_object(line)
            all_texts.append(_text(record, text))
            all_labels.append([] if labels is None else _labels(record, labels))
        except _LineError as error:
            raise DataFormatError(str(error), source_name(path), number) from None
    return all_texts, all_labels


class _LineError(Exception):
    """What is wrong with a line."""


def _parse_object(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise _LineError(f"expected a JSON object, but: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, brackets too deep
        raise _LineError(f"expected a JSON object, but: {error}") from None
    if not isinstance(record, dict):
        raise _LineError(f"expected a JSON object, got {_kind(record)}")
    return record


def _text(record: dict[str, Any], key: str) -> str:
    value = _member(record, key)
    if not isinstance(value, str):
        raise _LineError(f"expected a string as {key!r}, got {_kind(value)}")
    return value


def _labels(record: dict[str, Any], key: str) -> list[str]:
    value = _member(record, key)
    if not isinstance(value, list):
        raise _LineError(f"expected a list of strings as {key!r}, got {_kind(value)}")
    for label in value:
        if not isinstance(label, str):
            raise _LineError(f"expected a list of strings as {key!r}, got a list with {_kind(label)}")
    return value


def _member(record: dict[str, Any], key: str) -> Any:
    if key not in record:
        keys = ", ".join(map(repr, list(record)[:10])) or "none"
        raise _LineError(f"expected an object with the key {key!r}, got the keys {keys}")
    return record[key]


def _kind(value: object) -> str:
    kinds = {str: "a string", list: "a list", dict: "an object", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")

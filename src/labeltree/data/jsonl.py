"""JSON lines: an object per line, with a text or features, and with labels."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import numpy as np

from .columns import Columns, kind_of
from .lines import LineError
from .sources import Source, read_lines

_LARGEST = float(np.finfo(np.float32).max)
#: The escape of half a surrogate pair, or of a whole pair.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_jsonl(
    path: Source, text: str = "text", labels: str | None = "labels"
) -> tuple[list[str], list[list[str]]]:
    """Read lines such as ``{"text": "A fishing boat", "labels": ["sea", "boat"]}``.

    Blank lines and other keys are ignored.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed.
    text : str, default="text"
        Key of the text, a string.
    labels : str or None, default="labels"
        Key of the labels, a list of strings. Use None to read texts without labels.

    Returns
    -------
    texts : list of str
    labels : list of list of str
        The labels of each text; empty lists when `labels` is None.

    Raises
    ------
    DataFormatError
        With file and line, if a line is not UTF-8, is not a JSON object, lacks a key, has half of a surrogate pair, or
        has a value of another type.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_jsonl
    >>> read_jsonl(io.BytesIO(b'{"text": "A fishing boat", "labels": ["sea", "boat"]}\\n'))
    (['A fishing boat'], [['sea', 'boat']])
    """
    all_texts, all_labels = [], []
    columns = Columns((text,), labels)
    for _, example in read_lines(path, partial(parse_text, columns=columns)):
        if example is not None:
            all_texts.append(example[0])
            all_labels.append(example[1])
    return all_texts, all_labels


def parse_text(line: str, columns: Columns) -> tuple[str, list[Any], str | int | None] | None:
    """Parse the text, the labels and the id of a line; return None for a blank line."""
    record = parse_object(line)
    if record is None:
        return None
    return columns.text_of(record), columns.labels_of(record), columns.id_of(record)


def parse_object(line: str) -> dict[str, Any] | None:
    """Parse the JSON object of a line; return None for a blank line."""
    if not line.strip(" \t"):
        return None
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise LineError(f"expected a JSON object, but: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, or too many nested brackets
        raise LineError(f"expected a JSON object, but: {error}") from None
    if _SURROGATE.search(line):
        _check_unicode(record)
    if not isinstance(record, dict):
        raise LineError(f"expected a JSON object, got {kind_of(record)}")
    return record


def _check_unicode(record: Any) -> None:
    """Refuse half of a surrogate pair: a model that learned a name with it could not be saved."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise LineError(f"expected valid Unicode, got {half}, which is half of a surrogate pair") from None


def features_of(record: dict[str, Any], key: str) -> dict[str, float | str]:
    """Return the features under a key by name: finite float32 numbers, truth values or texts."""
    value = record[key]
    if not isinstance(value, dict):
        raise LineError(f"expected an object of names and values as {key!r}, got {kind_of(value)}")
    for name, member in value.items():
        if isinstance(member, str):
            continue
        if not isinstance(member, int | float):
            raise LineError(f"expected a number or a text as the feature {name!r}, got {kind_of(member)}")
        if not -_LARGEST <= member <= _LARGEST:
            raise LineError(f"expected a finite float32 as the feature {name!r}, got {str(member)[:20]}")
    return value

"""JSON lines: an object per line, with a text or features, and with labels."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from .columns import Columns, is_of_repository, kind_of, shown
from .examples import Example, text_example, words_example
from .lines import LineError

_SCAN: Any = json.JSONDecoder().scan_once  # type: ignore[attr-defined] # which the types of json leave out
_LARGEST = float(np.finfo(np.float32).max)
#: The escape of half a surrogate pair, or of a whole pair.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonLines:
    """Parses lines, either into texts or into named features."""

    def __init__(self, columns: Columns, whole_texts: bool) -> None:
        self._columns = columns
        self._of_repository = columns.of_repository()
        self._whole_texts = whole_texts

    def parse(self, line: str) -> Example | None:
        """Parse the text or the features, the labels and the id of a line; return None for a blank line."""
        record = parse_object(line)
        if record is None:
            return None
        columns = self._columns
        if is_of_repository(record):
            columns = self._of_repository
        if self._whole_texts:
            return text_example(record, columns)
        has_text = any(name in record for name in columns.text)
        if "features" not in record and has_text:
            return words_example(record, columns)
        if "features" not in record:
            found = shown(record, "keys")
            raise LineError(f"expected an object with the key 'features' or {columns.text[0]!r}, got {found}")
        if has_text:
            raise LineError("expected either 'features' or 'text', got both")
        return features_of(record, "features"), columns.labels_of(record), columns.id_of(record)


def parse_object(line: str) -> dict[str, Any] | None:
    """Parse the JSON object of a line; return None for a blank line."""
    if not line.strip(" \t"):
        return None
    try:
        record = _loads(line)
    except json.JSONDecodeError as error:
        raise LineError(f"expected a JSON object, but: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, or too many nested brackets
        raise LineError(f"expected a JSON object, but: {error}") from None
    if "\\u" in line and _SURROGATE.search(line):
        _check_unicode(record)
    if not isinstance(record, dict):
        raise LineError(f"expected a JSON object, got {kind_of(record)}")
    return record


def _loads(line: str) -> Any:
    """Return what `json.loads` returns, without its search for white space around the object."""
    try:
        record, end = _SCAN(line, 0)
        if end == len(line):
            return record
    except (ValueError, StopIteration):
        pass
    return json.loads(line)  # says what is wrong


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

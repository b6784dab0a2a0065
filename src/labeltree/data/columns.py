"""Columns of records: where the text, the labels and the id of an example are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .lines import LineError

_KINDS = {str: "a string", list: "a list", dict: "an object", bool: "a truth value", type(None): "null"}


@dataclass(frozen=True)
class Columns:
    """The names of the columns, or of the keys of JSON objects, that make an example.

    Attributes
    ----------
    text : tuple of str
        The columns of the text. Several are joined by a newline.
    labels : str or None
        The column of the labels; None ignores them.
    separator : str or None
        Splits a string of labels.
    id : str or None
        The column of the id.
    """

    text: tuple[str, ...] = ("text",)
    labels: str | None = "labels"
    separator: str | None = None
    id: str | None = None

    def text_of(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record: its columns, joined by a newline. Null is an empty text."""
        if len(self.text) == 1:
            return _text(self._member(record, self.text[0]), self.text[0])
        if not any(name in record for name in self.text):
            self._member(record, self.text[0])  # raises
        return "\n".join(_text(record.get(name), name) for name in self.text)

    def labels_of(self, record: Mapping[str, Any]) -> list[Any]:
        """Return the labels of a record; an empty list if they are ignored."""
        if self.labels is None:
            return []
        value = self._member(record, self.labels)
        if value is None:
            return []
        if isinstance(value, str) and self.separator is not None:
            return [label for label in map(str.strip, value.split(self.separator)) if label]
        if not isinstance(value, list):
            raise LineError(f"expected a list of strings as {self.labels!r}, got {kind_of(value)}")
        for label in value:
            if not isinstance(label, str):
                raise LineError(
                    f"expected a list of strings as {self.labels!r}, got a list with {kind_of(label)}"
                )
        return value

    def id_of(self, record: Mapping[str, Any]) -> str | int | None:
        """Return the id of a record; None if no column has it."""
        if self.id is None:
            return None
        value = self._member(record, self.id)
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise LineError(f"expected a string or an integer as {self.id!r}, got {kind_of(value)}")
        return value

    def _member(self, record: Mapping[str, Any], name: str) -> Any:
        if name not in record:
            raise LineError(f"expected an object with the key {name!r}, got {names_of(record)}")
        return record[name]


def names_of(record: Mapping[str, Any]) -> str:
    """Return the keys of an object for an error message."""
    return f"the keys {', '.join(map(repr, list(record)[:10])) or 'none'}"


def kind_of(value: object) -> str:
    """Return the kind of a value for an error message."""
    return _KINDS.get(type(value), "a number")


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise LineError(f"expected a string as {name!r}, got {kind_of(value)}")

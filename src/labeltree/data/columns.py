"""Columns of records: where the text, the labels and the id of an example are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from labeltree.wording import with_article

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
        Splits a string of labels. Without it, a string is one label.
    id : str or None
        The column of the id.
    are_fields : bool
        Whether a text is a mapping of columns to their texts, for a vectorizer with fields.
    """

    text: tuple[str, ...] = ("text",)
    labels: str | None = "labels"
    separator: str | None = None
    id: str | None = None
    are_fields: bool = False

    def __post_init__(self) -> None:
        if not self.text or not all(self.text):
            raise ValueError(f"expected the names of one or more columns of text, got {self.text!r}")
        if self.separator == "":
            raise ValueError("expected a separator of at least one character, got ''")

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [name for name in (*self.text, self.labels, self.id) if name is not None]

    @property
    def are_chosen(self) -> bool:
        """Whether columns were chosen; fields may come from a model, which reads texts without columns too."""
        is_usual = self.labels in (None, "labels") and (self.text == ("text",) or self.are_fields)
        return not is_usual or self.separator is not None or self.id is not None

    def among(self, names: Collection[str]) -> Columns:
        """Return the columns to read from a table with these columns; `LineError` if it lacks one."""
        columns = self.of_repository() if is_of_repository(names) else self
        if columns.text != self.text:  # the short texts of the repository have titles only
            there = tuple(name for name in columns.text if name in names)
            columns = replace(columns, text=there or columns.text)
        repeated = next((name for name in columns.names if list(names).count(name) > 1), None)
        if repeated is not None:
            raise LineError(f"expected one column {repeated!r}, got several of that name")
        missing = next((name for name in columns.names if name not in names), None)
        if missing is not None:
            option = {columns.labels: "labels", columns.id: "id"}.get(missing, "text")
            raise LineError(
                f"expected a column {missing!r}, got {shown(names, 'columns')}{_how_to_choose(option)}"
            )
        return columns

    def of_repository(self) -> Columns:
        """Return the columns of the raw texts of the Extreme Classification Repository, unless others were chosen."""
        return replace(
            self,
            text=("title", "content") if self.text == ("text",) else self.text,
            labels="target_ind" if self.labels == "labels" else self.labels,
        )

    def text_of(self, record: Mapping[str, Any]) -> Any:
        """Return the text of a record: its columns that are not empty, joined by a newline. Null is an empty text."""
        if len(self.text) == 1 and not self.are_fields:
            return _text(_member(record, self.text[0], "text"), self.text[0])
        if not any(name in record for name in self.text):
            _member(record, self.text[0], "text")  # raises
        texts = {name: _text(record.get(name), name) for name in self.text}
        return texts if self.are_fields else "\n".join(filter(None, texts.values()))

    def labels_of(self, record: Mapping[str, Any]) -> list[Any]:
        """Return the labels of a record; an empty list if they are ignored."""
        if self.labels is None:
            return []
        value = _member(record, self.labels, "labels")
        if type(value) is list:
            for label in value:
                if type(label) is not str and type(label) is not int:
                    raise LineError(
                        f"expected a list of strings as {self.labels!r}, got a list with {kind_of(label)}"
                    )
            return value
        if isinstance(value, str):
            parts = [value] if self.separator is None else value.split(self.separator)
            return [label for label in map(str.strip, parts) if label]
        if value is None:
            return []
        if type(value) is int:
            return [value]
        raise LineError(f"expected a list of strings as {self.labels!r}, got {kind_of(value)}")

    def id_of(self, record: Mapping[str, Any]) -> str | int | None:
        """Return the id of a record; None if no column has it."""
        if self.id is None:
            return None
        value = _member(record, self.id, "id")
        if type(value) is not str and type(value) is not int:
            raise LineError(f"expected a string or an integer as {self.id!r}, got {kind_of(value)}")
        return value


def is_of_repository(names: Collection[str]) -> bool:
    """Return whether a record has the columns of the Extreme Classification Repository's raw texts."""
    return "target_ind" in names and "text" not in names


def shown(names: Collection[str], noun: str) -> str:
    """Return the names of columns or keys for an error message."""
    some = ", ".join(map(repr, list(names)[:10]))
    return f"the {noun} {some or 'none'}{', …' if len(names) > 10 else ''}"


def kind_of(value: object) -> str:
    """Return the kind of a value for an error message."""
    return _KINDS.get(
        type(value), "a number" if isinstance(value, int | float) else with_article(type(value).__name__)
    )


def _how_to_choose(option: str) -> str:
    """Return how to choose a column, on the command line and in Python."""
    content = {"text": "the text", "labels": "the labels", "id": "the ids"}[option]
    return f"; choose the column of {content} with --{option} ({option}= in Python)"


def _member(record: Mapping[str, Any], name: str, option: str) -> Any:
    if name not in record:
        how = _how_to_choose(option).replace("column", "key") if record else ""
        raise LineError(f"expected an object with the key {name!r}, got {shown(record, 'keys')}{how}")
    return record[name]


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise LineError(f"expected a string as {name!r}, got {kind_of(value)}")

"""Frames of pandas, polars, pyarrow and datasets as texts; none of these libraries is imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from labeltree.errors import DataFormatError
from labeltree.wording import with_article

from .columns import Columns
from .examples import Block, block_of, text_example
from .lines import LineError


@dataclass(frozen=True)
class Frame:
    """A frame of any library: its kind, the names of its columns, and a function that returns a column as a list."""

    kind: str
    names: list[str]
    values_of: Callable[[str], list[Any]]

    @classmethod
    def of(cls, source: Any) -> Frame | None:
        """Return an object as a frame; None if it is not one."""
        kind = type(source).__name__
        names = getattr(source, "column_names", None)
        if isinstance(names, dict):  # of datasets, with a list for each split
            splits = ", ".join(map(repr, names))
            raise ValueError(f"expected one split of {with_article(kind)}, got all: choose one of {splits}")
        if names is not None and hasattr(source, "to_pydict"):  # a table of pyarrow
            return cls(kind, list(names), lambda name: source.column(name).to_pylist())
        if names is not None:
            return cls(kind, list(names), lambda name: list(source[name]))
        names = getattr(source, "columns", None)
        if names is not None and hasattr(source, "__getitem__"):
            return cls(kind, list(names), lambda name: _values(source[name]))
        return None

    def read(self, columns: Columns) -> Block:
        """Return the texts, labels and ids of all rows."""
        try:
            columns = columns.among(self.names)
        except LineError as error:
            raise DataFormatError(error.reason, self.kind) from None
        wanted = columns.names
        examples = []
        for number, values in enumerate(zip(*map(self.values_of, wanted), strict=True)):
            record = {name: _plain(value) for name, value in zip(wanted, values, strict=True)}
            try:
                examples.append(text_example(record, columns))
            except LineError as error:
                raise DataFormatError(f"row {number}: {error.reason}", self.kind) from None
        return block_of(examples, len(examples))


def _values(series: Any) -> list[Any]:
    """Return a column of pandas or polars as a list, with None for missing values."""
    if hasattr(series, "isna"):  # pandas has several kinds of missing values
        missing = series.isna()
        if missing.any():
            series = series.astype(object).where(~missing, None)
    values: list[Any] = series.to_list()
    return values


def _plain(value: Any) -> Any:
    """Return an array, a tuple, a set or a number of NumPy as a list or a number."""
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    if hasattr(value, "to_list"):  # polars, in columns of objects
        return value.to_list()
    return value.tolist() if hasattr(value, "tolist") else value

"""Frames of pandas, polars, pyarrow and datasets as texts; none of these libraries is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labeltree.errors import DataFormatError
from labeltree.wording import with_article

from .columns import Columns
from .examples import text_example
from .lines import LineError


def frame_columns(source: Any) -> tuple[list[str], Callable[[str], list[Any]]] | None:
    """Return the names of the columns of a frame and a function that returns one as a list; None for another object."""
    names = getattr(source, "column_names", None)
    if isinstance(names, dict):  # of datasets, with a list for each split
        splits = ", ".join(map(repr, names))
        raise ValueError(
            f"expected one split of {with_article(type(source).__name__)}, got all: choose one of {splits}"
        )
    if names is not None and hasattr(source, "to_pydict"):  # a table of pyarrow
        return list(names), lambda name: source.column(name).to_pylist()
    if names is not None:
        return list(names), lambda name: list(source[name])
    names = getattr(source, "columns", None)
    if names is not None and hasattr(source, "__getitem__"):
        return list(names), lambda name: _values(source[name])
    return None


def read_frame(
    names: list[str], values_of: Callable[[str], list[Any]], kind: str, columns: Columns
) -> tuple[list[Any], list[list[Any]], list[Any]]:
    """Return the texts, labels and ids of a frame."""
    try:
        columns = columns.among(names)
    except LineError as error:
        raise DataFormatError(error.reason, kind) from None
    wanted = [name for name in (*columns.text, columns.labels, columns.id) if name is not None]
    examples = []
    for number, values in enumerate(zip(*map(values_of, wanted), strict=True)):
        record = {name: _plain(value) for name, value in zip(wanted, values, strict=True)}
        try:
            examples.append(text_example(record, columns))
        except LineError as error:
            raise DataFormatError(f"row {number}: {error.reason}", kind) from None
    texts, labels, ids = map(list, zip(*examples, strict=True)) if examples else ([], [], [])
    return texts, labels, ids


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

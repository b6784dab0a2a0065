"""Tables of text with a header: CSV and TSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from .columns import Columns
from .examples import Example, Parsed, block_of
from .lines import LineError, decode_utf8

# The module's own limit of 131,072 characters is for the whole process; texts are longer.
csv.field_size_limit(2**31 - 1)


def read_delimited(
    blocks: Iterable[bytes],
    delimiter: str,
    columns: Columns,
    make: Callable[[Mapping[str, Any], Columns], Example],
) -> Parsed:
    """Read records with a header; `make` turns a record into an example.

    Fields with delimiters, quotes or line breaks are in double quotes. Raises `LineError` if the header lacks a column.
    """
    lines = _Lines(iter(blocks))
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        header = next((fields for fields in records if fields), [])
        lines.check()
    except csv.Error as error:
        raise LineError(f"expected a header with the names of columns, but: {error}", lines.number) from None
    if not header:
        return
    try:
        columns = columns.among(header)
    except LineError as error:
        raise LineError(error.reason, lines.number) from None
    places = {name: header.index(name) for name in columns.names}
    example_of = partial(_example, places=places, n_fields=len(header), columns=columns, make=make)
    examples: list[Example] = []
    while True:
        first_line = lines.number + 1
        try:
            fields = next(records, None)
            lines.check()
            if fields:  # a blank line has no fields
                examples.append(example_of(fields))
        except (LineError, csv.Error) as error:
            if examples:
                yield block_of(examples, first_line - 1)
                examples = []
            wrong = lines.take_wrong()
            yield wrong or LineError(_reason(error, lines.number - first_line + 1), first_line)
            continue
        if fields is None:
            break
        if lines.is_exhausted:
            yield block_of(examples, lines.number)
            examples = []
    yield block_of(examples, lines.number)


def delimiter_of(header: bytes) -> str:
    """Return the delimiter of a CSV file: a comma, or what the header has instead, as some spreadsheets write it."""
    return next((delimiter for delimiter in ",;\t|" if delimiter.encode() in header), ",")


def _example(
    fields: list[str],
    places: dict[str, int],
    n_fields: int,
    columns: Columns,
    make: Callable[[Mapping[str, Any], Columns], Example],
) -> Example:
    if len(fields) != n_fields:
        raise LineError(f"expected {n_fields} fields, as the header has, got {len(fields)}")
    return make({name: fields[place] for name, place in places.items()}, columns)


def _reason(error: LineError | csv.Error, n_lines: int) -> str:
    if isinstance(error, LineError):
        return error.reason
    if "unexpected end of data" in str(error):
        return f"expected a closing quote of the field that begins here, got none in {n_lines:,} lines"
    return f"expected fields as in CSV, quoted if they have quotes, but: {error}"


class _Lines(Iterator[str]):
    """The lines of blocks, decoded.

    A line that is not UTF-8 is kept nevertheless, so that its quotes count, and `check` raises its error.
    """

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.number = 0
        self._blocks = blocks
        self._wrong: LineError | None = None
        self._lines: list[bytes] = []  # of the current block, the last line first

    @property
    def is_exhausted(self) -> bool:
        """Whether the next line needs another block."""
        return not self._lines

    def __next__(self) -> str:
        while not self._lines:
            # A line keeps its end, which may be within a quoted field.
            self._lines = next(self._blocks).splitlines(keepends=True)[::-1]
        self.number += 1
        line = self._lines.pop()
        try:
            return decode_utf8(line)
        except LineError as error:
            self._wrong = self._wrong or LineError(error.reason, self.number)
            return line.decode(errors="replace")

    def check(self) -> None:
        """Raise the error of a line that is not UTF-8, if there was one since `take_wrong`."""
        if self._wrong is not None:
            raise self._wrong

    def take_wrong(self) -> LineError | None:
        """Return the error that `check` raises, and forget it."""
        wrong, self._wrong = self._wrong, None
        return wrong

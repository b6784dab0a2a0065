"""Parquet and Arrow files, read with pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, BinaryIO, TypeAlias

from labeltree.errors import DataFormatError

from .columns import Columns
from .examples import Example, Parsed, block_of
from .lines import LineError, read_what_is_there

PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = b"ARROW1"

_BATCH_ROWS = 4096

_Batches: TypeAlias = Callable[[list[str]], Iterator[Any]]


def read_arrow(
    file: BinaryIO,
    name: str,
    format: str,
    columns: Columns,
    make: Callable[[Mapping[str, Any], Columns], Example],
) -> Parsed:
    """Read the rows of a Parquet file, or of Arrow's file or streaming format; `make` turns a row into an example.

    `file` can be read at any position. Raises `DataFormatError` if it is damaged, `LineError` if it lacks a column.
    """
    pyarrow = _pyarrow(name)
    n_rows = 0
    try:
        names, batches = (_parquet if format == "parquet" else _arrow)(file)
        columns = columns.among(names)
        wanted = columns.names
        for batch in batches(wanted):
            batch.validate(full=True)  # wrong offsets in a damaged file would be followed anywhere
            lists = [batch.column(column).to_pylist() for column in wanted]
            examples: list[Example] = []
            for values in zip(*lists, strict=True):
                n_rows += 1
                try:
                    examples.append(make(dict(zip(wanted, values, strict=True)), columns))
                except LineError as error:
                    if examples:
                        yield block_of(examples, n_rows - 1)
                        examples = []
                    yield LineError(f"row {n_rows - 1}: {error.reason}", 0)
            yield block_of(examples, n_rows)
    except LineError as error:
        raise LineError(error.reason, 0) from None
    except (pyarrow.ArrowException, OSError) as error:
        raise DataFormatError(f"expected a valid {format} file, but: {error}", name) from error


def _parquet(file: BinaryIO) -> tuple[list[str], _Batches]:
    """Return the names of all columns, and a function that reads some of them in batches."""
    table = import_module("pyarrow.parquet").ParquetFile(file)
    return table.schema_arrow.names, lambda wanted: table.iter_batches(_BATCH_ROWS, columns=wanted)


def _arrow(file: BinaryIO) -> tuple[list[str], _Batches]:
    """Return the names of all columns, and a function that reads all of them in batches."""
    ipc = import_module("pyarrow.ipc")
    is_file = file.read(len(ARROW_MAGIC)) == ARROW_MAGIC
    file.seek(0)
    reader: Any = ipc.open_file(file) if is_file else ipc.open_stream(file)

    def batches(wanted: list[str]) -> Iterator[Any]:
        parts = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        for part in parts:
            for begin in range(0, part.num_rows, _BATCH_ROWS):
                yield part.slice(begin, _BATCH_ROWS)

    return reader.schema.names, batches


def seekable(file: BinaryIO, is_plain: bool) -> BinaryIO:
    """Return a file that can be read at any position: itself, if it is a plain file, else its content in memory."""
    if is_plain:
        return file
    return io.BytesIO(b"".join(iter(partial(read_what_is_there, file, 1 << 20), b"")))


def _pyarrow(name: str) -> ModuleType:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            f"{name}: Parquet and Arrow files need the pyarrow package: pip install 'labeltree[parquet]'"
        ) from error

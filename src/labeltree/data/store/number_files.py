"""Files of rows of numbers, read in blocks from any place."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import numpy as np

from labeltree._native import HeaderRule
from labeltree.data.labelled_rows import RowReader
from labeltree.data.lines import LineError, line_blocks
from labeltree.data.sources import is_plain_file, open_measured
from labeltree.data.stream import XMLC_HEADER
from labeltree.errors import DataFormatError

from .imported_rows import ImportedRows
from .source_files import SourceFile
from .writer import StoreWriter

#: Bytes of text that are parsed at once. With the arrays that they become, they need about four times this memory.
BLOCK_BYTES = 1 << 24

_ONLY_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))*")


@dataclass(frozen=True)
class NumberFiles:
    """Reads XMLC and libsvm files; the parameters are those of `read_xmlc` and `read_libsvm`."""

    one_based: bool | None = None
    n_features: int | None = None
    n_labels: int | None = None
    #: The least numbers of features and labels.
    least: tuple[int, int] = (0, 0)
    n_threads: int = 1

    def blocks(
        self, writer: StoreWriter, file: SourceFile, start: Mapping[str, Any]
    ) -> Iterator[ImportedRows]:
        """Yield the rows of a file that come after the place `start`; from its beginning, if that is empty."""
        with open_measured(file.path) as (opened, position):
            header, first, n_bytes = _begin(opened, file.format)
            n_rows, n_lines = start.get("rows", 0), start.get("lines", int(header is not None))
            if "bytes" in start:
                _skip(opened, start["bytes"] - n_bytes - len(first), is_plain_file(file.path))
                first, n_bytes = b"", start["bytes"]
            for block in _blocks(first, opened):
                rows = self._parsed(block, file, header, n_lines)
                n_bytes += len(block)
                n_lines += _n_lines(block)
                if rows is not None:
                    n_rows += rows[0].shape[0]
                    place = {"rows": n_rows, "lines": n_lines, "bytes": n_bytes}
                    yield ImportedRows(*rows, place, position())
        if header is not None and n_rows != header[0]:
            reason = f"expected {header[0]} rows, as the header says, got {n_rows}"
            raise DataFormatError(reason, file.path, 1)
        if header is None and n_rows == 0:
            raise DataFormatError("expected at least one row, got an empty file", file.path, 1)

    def prepare(
        self, writer: StoreWriter, files: Sequence[SourceFile], progress: Callable[[int], None]
    ) -> None:
        """Give the store the numbers of columns that headers say."""
        writer.widen(*self.least)
        for file in files:
            with open_measured(file.path) as (opened, _):
                header = _begin(opened, file.format)[0]
            if header is not None:
                writer.widen(*header[1:])

    def job(self) -> dict[str, Any]:
        """Return the parameters that the rows depend on."""
        return {name: value for name, value in asdict(self).items() if name != "n_threads"}

    def _parsed(
        self, block: bytes, file: SourceFile, header: tuple[int, int, int] | None, n_lines: int
    ) -> tuple[Any, Any] | None:
        """Return X and y of a block; None if it has comments only."""
        is_libsvm = file.format == "libsvm"
        if is_libsvm and _ONLY_COMMENTS.fullmatch(block):
            return None
        if header is not None:  # the block is a file of its own, with the columns of the whole
            block = b"%d %d %d\n%b" % (_n_lines(block), *header[1:], block)
            n_lines -= 1
        reader = RowReader(
            header=HeaderRule.ABSENT if header is None else HeaderRule.REQUIRED,
            first_feature=int(is_libsvm if self.one_based is None else self.one_based),
            first_label=int(not is_libsvm and bool(self.one_based)),
            comments=is_libsvm,
            n_features=self.n_features,
            n_labels=self.n_labels,
            n_threads=self.n_threads,
        )
        try:
            return reader.parse(np.frombuffer(block, dtype=np.uint8))
        except LineError as error:
            raise DataFormatError(error.reason, file.path, n_lines + error.line) from None


def _begin(opened: BinaryIO, format: str) -> tuple[tuple[int, int, int] | None, bytes, int]:
    """Read the first line of a file; return its header or None, the line if it is a row, and the bytes before it."""
    read = opened.readline()
    line = read.removeprefix(codecs.BOM_UTF8)
    header = XMLC_HEADER.match(line) if format == "xmlc" else None
    if header is None:
        return None, line, len(read) - len(line)
    n_rows, n_features, n_labels = map(int, header.groups())
    return (n_rows, n_features, n_labels), b"", len(read)


def _skip(opened: BinaryIO, n_bytes: int, is_plain: bool) -> None:
    """Skip bytes; those of a compressed file must be decompressed."""
    if is_plain:
        opened.seek(n_bytes, 1)
        return
    while n_bytes > 0 and (skipped := len(opened.read(min(n_bytes, BLOCK_BYTES)))):
        n_bytes -= skipped


def _blocks(first: bytes, opened: BinaryIO) -> Iterator[bytes]:
    """Yield blocks of lines, the line `first` before all others."""
    for block in line_blocks(opened, BLOCK_BYTES):
        yield first + block
        first = b""
    if first:
        yield first


def _n_lines(block: bytes) -> int:
    return block.count(b"\n") + (not block.endswith(b"\n"))

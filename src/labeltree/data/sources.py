"""Sources of data: files, compressed files, standard input and open files."""

from __future__ import annotations

import codecs
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

from labeltree.errors import DataFormatError

from .compression import open_decompressed, uncompressed_name
from .lines import LineError, checked_bytes, decode_line

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, ``"-"`` for standard input, or a file opened in binary mode."""


def source_name(source: Source) -> str:
    """Return the name of `source` in error messages."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return "<stdin>" if path == "-" else path
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_stream(source: Source) -> Iterator[BinaryIO]:
    """Open `source`, decompressed, to be read once from its beginning with little memory."""
    if not isinstance(source, (str, os.PathLike)):
        yield source
    elif os.fspath(source) == "-":
        yield sys.stdin.buffer
    else:
        with open_decompressed(os.fspath(source)) as file:
            yield file


@contextmanager
def open_buffer(source: Source) -> Iterator[bytes | mmap.mmap]:
    """Open all bytes of `source`, decompressed; a plain file is mapped, not read."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "-"
    is_plain = path != "-" and uncompressed_name(path) == path.lower()
    with open_stream(source) as file:
        # A pipe or a device has no size, and an empty file cannot be mapped.
        if is_plain and os.path.isfile(path) and os.path.getsize(path) > 0:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                yield mapped
        else:
            yield checked_bytes(file.read())


def read_lines(source: Source, parse: Callable[[str], Any] = str) -> Iterator[tuple[int, Any]]:
    """Yield the number and the text of each line, in UTF-8, without ``\\n`` or ``\\r\\n``, converted by `parse`.

    A `LineError` from `parse` becomes a `DataFormatError` with the name of the source and the number of the line.
    """
    with open_stream(source) as file:
        for number, line in enumerate(file, start=1):
            content = checked_bytes(line)
            if number == 1:
                content = content.removeprefix(codecs.BOM_UTF8)
                if not content:  # a byte order mark without any line
                    return
            try:
                parsed = parse(decode_line(content.removesuffix(b"\n")))
            except LineError as error:
                raise DataFormatError(error.reason, source_name(source), number) from None
            yield number, parsed

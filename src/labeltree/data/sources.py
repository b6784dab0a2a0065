"""Sources of data: files, compressed files, standard input and open files."""

from __future__ import annotations

import codecs
import io
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, TextIO, TypeAlias, cast

from labeltree.errors import DataFormatError

from .compression import open_decompressed, uncompressed_name
from .lines import LineError, checked_bytes, decode_line, read_what_is_there

MAX_HEAD_BYTES = 1 << 20

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, ``"-"`` for standard input, or a file opened in binary mode."""


def source_name(source: Source) -> str:
    """Return the name of `source` in error messages."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return "<stdin>" if path == "-" else path
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def standard_input() -> TextIO:
    """Return standard input; raise `OSError` if the process was started without one."""
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin


@contextmanager
def open_stream(source: Source) -> Iterator[BinaryIO]:
    """Open `source`, decompressed, to be read once from its beginning with little memory."""
    with open_measured(source) as (file, _):
        yield file


@contextmanager
def open_measured(source: Source) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open `source` as `open_stream` does; also yield a function that says how far it was read.

    The function returns a number of bytes, of a compressed file those on disk; always 0 if `source` is not a file.
    """
    if not isinstance(source, (str, os.PathLike)):
        yield source, lambda: 0
    elif os.fspath(source) == "-":
        yield standard_input().buffer, lambda: 0
    else:
        with open_decompressed(os.fspath(source)) as opened:
            yield opened


def is_plain_file(source: Source) -> bool:
    """Return whether `source` is the name of a file that is not compressed, not a pipe and not a device."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    path = os.fspath(source)
    return path != "-" and uncompressed_name(path) == path.lower() and os.path.isfile(path)


@contextmanager
def open_buffer(source: Source) -> Iterator[bytes | mmap.mmap]:
    """Open all bytes of `source`, decompressed; a plain file is mapped, not read."""
    with open_stream(source) as file:
        if is_plain_file(source) and os.fstat(file.fileno()).st_size > 0:  # an empty file cannot be mapped
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                yield mapped
        else:
            yield checked_bytes(file.read())


@contextmanager
def open_peeked(source: Source) -> Iterator[tuple[bytes, Source]]:
    """Open `source`, and yield its first lines and a source that still has all of it.

    A pipe is read once: what was read of it is given again.
    """
    with open_stream(source) as file:
        head = b""
        while b"\n" not in head.lstrip() and len(head) < MAX_HEAD_BYTES:
            more = read_what_is_there(file, MAX_HEAD_BYTES)
            if not more:
                break
            head += more
        is_file = isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-"
        if is_file and os.path.isfile(cast(str, source)):
            yield head.removeprefix(codecs.BOM_UTF8), source
        else:
            again = io.BufferedReader(_Again(head, file, source_name(source)))
            yield head.removeprefix(codecs.BOM_UTF8), cast(BinaryIO, again)


class _Again(io.RawIOBase):
    """A file whose beginning was read already."""

    def __init__(self, head: bytes, file: BinaryIO, name: str) -> None:
        self.name = name
        self._head = head
        self._file = file

    def readable(self) -> bool:
        return True

    def readall(self) -> bytes:
        head, self._head = self._head, b""  # the default reads small blocks
        return b"".join([head, *iter(partial(read_what_is_there, self._file, MAX_HEAD_BYTES), b"")])

    def readinto(self, buffer: Any, /) -> int:
        content = self._head[: len(buffer)] or read_what_is_there(self._file, len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(content)] = content
        return len(content)


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

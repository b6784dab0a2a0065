"""Where data come from: files, compressed files, standard input, open files."""

from __future__ import annotations

import codecs
import io
import mmap
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias

from labeltree.errors import DataFormatError

from .compression import decompressor
from .lines import LineError, decode_line

Source: TypeAlias = str | os.PathLike[str] | BinaryIO
"""A path, ``"-"`` for standard input, or a file opened in binary mode."""


def source_name(source: Source) -> str:
    """Return what error messages call `source`."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return "<stdin>" if path == "-" else path
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_buffer(source: Source) -> Iterator[bytes | mmap.mmap]:
    """Give all bytes of `source`, decompressed; a plain file is mapped, not read."""
    if not isinstance(source, (str, os.PathLike)):
        yield _read_all(source)
        return
    path = os.fspath(source)
    if path == "-":
        yield _read_all(sys.stdin.buffer)
        return
    with open(path, "rb") as file:
        decompress = decompressor(path)
        status = os.fstat(file.fileno())
        if decompress is not None:
            yield b"".join(decompress(file, path))
        elif stat.S_ISREG(status.st_mode) and status.st_size > 0:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                yield mapped
        else:  # a pipe or a device has no size; an empty file cannot be mapped
            yield file.read()


@contextmanager
def open_stream(source: Source) -> Iterator[BinaryIO]:
    """Give `source`, decompressed, to be read once from its beginning; never more than a part of it is in memory."""
    if not isinstance(source, (str, os.PathLike)):
        yield source
        return
    path = os.fspath(source)
    if path == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        decompress = decompressor(path)
        yield file if decompress is None else io.BufferedReader(_Blocks(decompress(file, path)))


class _Blocks(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._block = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while not self._block:  # a block may be empty, though it is not the last
            try:
                self._block = memoryview(next(self._blocks))
            except StopIteration:
                return 0
        size = min(len(buffer), len(self._block))
        buffer[:size] = self._block[:size]
        self._block = self._block[size:]
        return size


def text_start(buffer: bytes | mmap.mmap) -> int:
    """Return where the text in `buffer` begins: behind the byte order mark that some editors write."""
    return len(codecs.BOM_UTF8) if buffer[: len(codecs.BOM_UTF8)] == codecs.BOM_UTF8 else 0


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Give the lines of a UTF-8 text with their numbers, without their ends (``\\n`` or ``\\r\\n``)."""
    with open_buffer(source) as buffer:
        number, begin, size = 0, text_start(buffer), len(buffer)
        while begin < size:
            newline = buffer.find(b"\n", begin)
            end = newline if newline >= 0 else size
            line = buffer[begin:end]
            number, begin = number + 1, end + 1
            try:
                text = decode_line(line)
            except LineError as error:
                raise DataFormatError(error.reason, source_name(source), number) from None
            yield number, text


def _read_all(file: BinaryIO) -> bytes:
    content: object = file.read()
    if not isinstance(content, bytes):
        raise TypeError(f"expected a file opened in binary mode, got one that reads {type(content).__name__}")
    return content

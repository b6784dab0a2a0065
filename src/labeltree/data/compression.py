"""Compressed files, recognised by their suffix."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any, BinaryIO

from labeltree.errors import DataFormatError

_BLOCK_BYTES = 1 << 20


def uncompressed_name(name: str) -> str:
    """Return a file name in lower case, without the suffix ``.gz``, ``.xz`` or ``.zst``."""
    return re.sub(r"\.(gz|xz|zst)$", "", name.lower())


def compressing(path: str, file: BinaryIO) -> AbstractContextManager[Any]:
    """Return a writer that compresses into `file` by the suffix of `path`, and leaves it open."""
    name = path.lower()
    if name.endswith(".gz"):
        # Neither name nor time: the same data give the same bytes.
        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
    if name.endswith(".xz"):
        return lzma.LZMAFile(file, "wb")
    if name.endswith(".zst"):
        compressor: Any = _zstandard(path).ZstdCompressor(write_checksum=True)
        writer: AbstractContextManager[Any] = compressor.stream_writer(file, closefd=False)
        return writer
    return nullcontext(file)


@contextmanager
def open_decompressed(path: str) -> Iterator[tuple[BinaryIO, Callable[[], int]]]:
    """Open a file for reading, decompressed by its suffix; also yield a function that says how far it was read.

    The function returns a number of bytes of the file as it is on disk. Damaged data raise `DataFormatError`, also
    while the file is read.
    """
    name = path.lower()
    errors: tuple[type[Exception], ...] = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError)
    with open(path, "rb") as file:
        content: Any
        if name.endswith(".gz"):
            content = gzip.GzipFile(fileobj=file)
        elif name.endswith(".xz"):
            content = lzma.LZMAFile(file)  # noqa: SIM115
        elif name.endswith(".zst"):
            content = _ZstandardReader(file, _zstandard(path))
            errors = (*errors, _zstandard(path).ZstdError)
        else:
            yield file, file.tell
            return
        try:
            yield io.BufferedReader(content, _BLOCK_BYTES), file.tell
        except errors as error:
            suffix = name.rpartition(".")[2]
            raise DataFormatError(f"expected a valid {suffix} file, but: {error}", path) from error


class _ZstandardReader(io.RawIOBase):
    """Reads a Zstandard file, and raises `EOFError` if it ends within a frame, which zstandard's own reader ignores."""

    def __init__(self, file: BinaryIO, zstandard: ModuleType) -> None:
        self._file = file
        self._zstandard = zstandard
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._content = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readall(self) -> bytes:
        return b"".join(iter(lambda: self.read(_BLOCK_BYTES) or b"", b""))  # the default reads small blocks

    def readinto(self, buffer: Any, /) -> int:
        while not self._content:
            compressed = self._frame.unused_data or self._file.read(_BLOCK_BYTES)
            if not compressed:
                if not self._frame.eof:
                    raise EOFError("it ends in the middle of a frame")
                return 0
            if self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            self._content = memoryview(self._frame.decompress(compressed))
        size = min(len(buffer), len(self._content))
        buffer[:size] = self._content[:size]
        self._content = self._content[size:]
        return size


def _zstandard(path: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise ImportError(f"{path}: .zst files need the zstandard package: pip install zstandard") from error
    return zstandard

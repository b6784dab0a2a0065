"""Compressed files, known by the end of their name."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, BinaryIO

from labeltree.errors import DataFormatError

_BLOCK_BYTES = 1 << 20


def decompressor(path: str) -> Callable[[BinaryIO, str], Iterator[bytes]] | None:
    """Return the function that reads files named like `path`, block by block, or None where they are not compressed."""
    for suffix, decompress in ((".gz", _gunzip), (".xz", _unxz), (".zst", _unzstd)):
        if path.lower().endswith(suffix):
            return decompress
    return None


def compressing(path: str, file: BinaryIO) -> AbstractContextManager[Any]:
    """Return a writer that compresses into `file` as the name `path` asks for, and leaves it open."""
    name = path.lower()
    if name.endswith(".gz"):
        # Neither name nor time: the same data give the same bytes.
        return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
    if name.endswith(".xz"):
        return lzma.LZMAFile(file, "wb")
    if name.endswith(".zst"):
        writer: AbstractContextManager[Any] = (
            _zstandard(path).ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False)
        )
        return writer
    return nullcontext(file)


def _gunzip(file: BinaryIO, path: str) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=file) as content:
            yield from _blocks(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFormatError(f"expected a gzip file, but: {error}", path) from error


def _unxz(file: BinaryIO, path: str) -> Iterator[bytes]:
    try:
        with lzma.LZMAFile(file) as content:
            yield from _blocks(content)
    except (lzma.LZMAError, EOFError) as error:
        raise DataFormatError(f"expected an xz file, but: {error}", path) from error


def _unzstd(file: BinaryIO, path: str) -> Iterator[bytes]:
    zstandard = _zstandard(path)
    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        while block := file.read(_BLOCK_BYTES):
            while block:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(block)
                block = frame.unused_data
    except zstandard.ZstdError as error:
        raise DataFormatError(f"expected a Zstandard file, but: {error}", path) from error
    if not frame.eof:
        # zstandard says nothing of this by itself.
        raise DataFormatError("expected a Zstandard file, but it ends in the middle of a frame", path)


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(_BLOCK_BYTES):
        yield block


def _zstandard(path: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise ImportError(f"{path}: .zst files need the zstandard package: pip install zstandard") from error
    return zstandard

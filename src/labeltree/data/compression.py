"""Compressed files, known by the end of their name."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any, BinaryIO

from labeltree.errors import DataFormatError

_BLOCK_BYTES = 1 << 20


def decompressor(path: str) -> Callable[[BinaryIO, str], bytes] | None:
    """Return the function that reads files named like `path`, or None where they are not compressed."""
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


def _gunzip(file: BinaryIO, path: str) -> bytes:
    try:
        return gzip.GzipFile(fileobj=file).read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFormatError(f"expected a gzip file, but: {error}", path) from error


def _unxz(file: BinaryIO, path: str) -> bytes:
    try:
        return lzma.LZMAFile(file).read()
    except (lzma.LZMAError, EOFError) as error:
        raise DataFormatError(f"expected an xz file, but: {error}", path) from error


def _unzstd(file: BinaryIO, path: str) -> bytes:
    zstandard = _zstandard(path)
    parts = []
    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        while block := file.read(_BLOCK_BYTES):
            while block:
                if frame.eof:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                parts.append(frame.decompress(block))
                block = frame.unused_data
    except zstandard.ZstdError as error:
        raise DataFormatError(f"expected a Zstandard file, but: {error}", path) from error
    if not frame.eof:
        # zstandard says nothing of this by itself.
        raise DataFormatError("expected a Zstandard file, but it ends in the middle of a frame", path)
    return b"".join(parts)


def _zstandard(path: str) -> ModuleType:
    try:
        import zstandard
    except ImportError as error:
        raise ImportError(
            f'{path}: .zst files need the zstandard package: pip install "labeltree[zstd]"'
        ) from error
    return zstandard

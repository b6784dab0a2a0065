"""Zip and tar archives from untrusted sources."""

from __future__ import annotations

import errno
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from labeltree.errors import DownloadError

#: Texts compress to a third or a fourth of their size. An archive that claims a much higher ratio is a zip bomb.
_MAX_EXPANSION = 100
_MAX_MEMBERS = 10_000
_BLOCK_BYTES = 1 << 20

#: Maximum size of a long name in a tar archive, since `tarfile` reads it into memory before anything can check it.
_MAX_NAME_BYTES = 1 << 16


class Member(NamedTuple):
    """An entry of an archive. Its name has no folder, and is empty unless the entry is a regular file."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


@contextmanager
def open_archive(path: Path) -> Iterator[dict[str, list[Member]]]:
    """Open a zip or tar archive and return its files by name.

    A damaged archive raises `DownloadError`, also while its files are read.
    """
    max_bytes = _MAX_EXPANSION * path.stat().st_size + _BLOCK_BYTES
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zip_file:
                yield _by_name(_zip_members(zip_file), max_bytes)
        else:
            with _open_tar(path) as tar_file:
                yield _by_name(_tar_members(tar_file), max_bytes)
                # The checksum of a compressed archive is at its end.
                while max_bytes > 0 and tar_file.fileobj and (block := tar_file.fileobj.read(_BLOCK_BYTES)):
                    max_bytes -= len(block)
    except DownloadError:
        raise
    except Exception as error:  # damaged archives raise exceptions of many types
        # Decompression errors have no number, and seeking to a wrong offset is an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DownloadError(f"the archive cannot be read: {error}") from error


def extract(members: list[Member], target: Path) -> None:
    """Write the only member of a list to `target`."""
    name, size, open_member = members[0]
    if len(members) > 1:
        raise DownloadError(f"expected one {name} in the archive, got {len(members)}")
    free = shutil.disk_usage(target.parent).free
    if size > free:
        raise OSError(errno.ENOSPC, f"{name} needs {size:,} bytes, but only {free:,} are free")
    left = size
    with open_member() as source, open(target, "wb") as file:
        # Never write more than the claimed size, even if the compressed stream holds more.
        while left and (block := source.read(min(left, _BLOCK_BYTES))):
            file.write(block)
            left -= len(block)
        if left or source.read(1):
            raise DownloadError(f"the archive is damaged: {name} does not have the size that it claims")


def _by_name(members: Iterable[Member], max_bytes: int) -> dict[str, list[Member]]:
    files: dict[str, list[Member]] = {}
    claimed = 0
    # Check each member at once: finding the next one in a tar archive decompresses all of this one.
    for number, member in enumerate(members, start=1):
        claimed += member.size
        if claimed > max_bytes:
            raise DownloadError(f"expected at most {max_bytes:,} bytes in the archive, got {claimed:,}")
        if number > _MAX_MEMBERS:
            raise DownloadError(f"expected at most {_MAX_MEMBERS:,} files in the archive, got more")
        if member.name:
            files.setdefault(member.name, []).append(member)
    return files


class _CheckedEntry(tarfile.TarInfo):
    """An entry of a tar archive whose name has a limited size."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _CheckedEntry:
        entry = super().frombuf(buf, encoding, errors)
        if entry.type not in tarfile.REGULAR_TYPES and entry.size > _MAX_NAME_BYTES:
            raise tarfile.ReadError(f"a name of {entry.size:,} bytes")
        return entry


def _open_tar(path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(path, tarinfo=_CheckedEntry)
    except tarfile.ReadError:
        with open(path, "rb") as file:
            raise DownloadError(
                f"expected a zip or tar archive, got a file that begins with {file.read(16)!r}"
            ) from None


def _zip_members(zip_file: zipfile.ZipFile) -> Iterator[Member]:
    for entry in zip_file.infolist():
        file_type = stat.S_IFMT(entry.external_attr >> 16)  # 0 in archives made on Windows
        is_file = not entry.is_dir() and file_type in (0, stat.S_IFREG)
        name = _base_name(entry.filename) if is_file else ""
        yield Member(name, entry.file_size, partial(zip_file.open, entry))


def _tar_members(tar_file: tarfile.TarFile) -> Iterator[Member]:
    for entry in tar_file:
        name = _base_name(entry.name) if entry.isreg() and not entry.issparse() else ""
        yield Member(name, entry.size, partial(tarfile.ExFileObject, tar_file, entry))


def _base_name(path: str) -> str:
    """Return the name without folders, or "" for the metadata files that macOS adds."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return "" if not parts or parts[0] == "__MACOSX" or parts[-1].startswith("._") else parts[-1]

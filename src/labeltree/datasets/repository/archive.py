"""Archives that nobody vouches for: zip, and tar with or without compression."""

from __future__ import annotations

import errno
import lzma
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from labeltree.errors import DownloadError

#: Texts shrink to a third or a fourth; what claims to have been shrunk like this is a bomb.
MOST_EXPANSION = 100
_MOST_MEMBERS = 10_000
_BLOCK_BYTES = 1 << 20

#: A tar archive's entry that holds a long name is read whole, before anything can be said about it.
_MOST_NAME_BYTES = 1 << 16
_NAMES = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)

_DAMAGED = (
    RecursionError,
    MemoryError,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    NotImplementedError,
)


@dataclass(frozen=True)
class Member:
    """A file in an archive; its folder is forgotten, so that it cannot lead anywhere."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


class Archive:
    """The files of an archive by their names."""

    def __init__(self, members: list[Member], archive_bytes: int) -> None:
        self._members: dict[str, list[Member]] = {}
        for member in members:
            self._members.setdefault(member.name, []).append(member)
        _check_claim(sum(member.size for member in members), archive_bytes)

    @property
    def names(self) -> list[str]:
        return sorted(self._members)

    def has(self, *names: str) -> bool:
        """Whether all of these files are there."""
        return all(name in self._members for name in names)

    def extract(self, name: str, target: Path) -> None:
        """Write a file of the archive to `target`, and nowhere else."""
        if len(self._members[name]) > 1:
            raise DownloadError(f"the archive has {name} {len(self._members[name])} times")
        member = self._members[name][0]
        free = shutil.disk_usage(target.parent).free
        if member.size > free:
            raise OSError(errno.ENOSPC, f"{name} has {member.size:,} bytes, and there is room for {free:,}")
        left = member.size
        with member.open() as source, open(target, "wb") as file:
            # Never more than was claimed, whatever the compressed stream would give.
            while left and (block := source.read(min(left, _BLOCK_BYTES))):
                file.write(block)
                left -= len(block)
            if left or source.read(1):
                raise DownloadError(f"the archive is damaged: {name} is not as long as it says")


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive, whatever its name; an error in it, then or while it is read, is a `DownloadError`."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as zipped:
                yield Archive(_zip_members(zipped), path.stat().st_size)
        else:
            with _opened_tar(path) as tape:
                size = path.stat().st_size
                yield Archive(_tar_members(tape, size), size)
                _read_to_the_end(tape, size)
    except DownloadError:
        raise
    except _DAMAGED as error:
        raise DownloadError(f"the archive is damaged: {error}") from error
    except OSError as error:
        # Decompressors' own errors have no number, and offsets that lead nowhere are invalid arguments.
        if error.errno not in (None, errno.EINVAL):
            raise
        raise DownloadError(f"the archive is damaged: {error}") from error


class _ModestEntry(tarfile.TarInfo):
    """An entry of a tar archive whose name is not a bomb."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _ModestEntry:
        entry = super().frombuf(buf, encoding, errors)
        if entry.type in _NAMES and entry.size > _MOST_NAME_BYTES:
            raise tarfile.ReadError(f"a name of {entry.size:,} bytes")
        return entry


def _opened_tar(path: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(path, tarinfo=_ModestEntry)
    except tarfile.ReadError:
        with open(path, "rb") as file:
            raise DownloadError(
                f"expected a zip or tar archive, got a file that begins with {file.read(16)!r}"
            ) from None


def _zip_members(zipped: zipfile.ZipFile) -> list[Member]:
    entries = [entry for entry in zipped.infolist() if not entry.is_dir()]
    _check_number(len(entries))
    return [
        Member(name, entry.file_size, partial(_unzipped, zipped, entry))
        for entry in entries
        if (name := _base_name(entry.filename)) and _is_regular(entry.external_attr >> 16)
    ]


def _unzipped(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    if entry.flag_bits & 1:
        raise DownloadError(f"the archive cannot be read: {entry.filename} needs a password")
    return zipped.open(entry)


def _tar_members(tape: tarfile.TarFile, archive_bytes: int) -> list[Member]:
    members: list[Member] = []
    claimed = 0
    for number, entry in enumerate(tape, start=1):
        # Before the next one is looked for, which means decompressing all of this one.
        claimed += entry.size
        _check_claim(claimed, archive_bytes)
        _check_number(number)
        name = _base_name(entry.name)
        if entry.isreg() and not entry.issparse() and name:
            members.append(Member(name, entry.size, partial(_extracted, tape, entry)))
    return members


def _read_to_the_end(tape: tarfile.TarFile, archive_bytes: int) -> None:
    """Come to the checksum at the end of a compressed archive, which nobody has looked at so far."""
    left = MOST_EXPANSION * archive_bytes + _BLOCK_BYTES
    while left > 0 and tape.fileobj and (block := tape.fileobj.read(_BLOCK_BYTES)):
        left -= len(block)


def _extracted(tape: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    file = tape.extractfile(entry)
    if file is None:
        raise DownloadError(f"the archive is damaged: {entry.name} is no file")
    return file


def _base_name(path: str) -> str:
    """The name without folders; empty for what macOS adds to archives."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    return "" if not parts or parts[0] == "__MACOSX" or parts[-1].startswith("._") else parts[-1]


def _is_regular(mode: int) -> bool:
    """Whether a zip entry is a file; those made on Windows have no mode."""
    return stat.S_IFMT(mode) in (0, stat.S_IFREG)


def _check_number(n_members: int) -> None:
    if n_members > _MOST_MEMBERS:
        raise DownloadError(f"the archive has more than {_MOST_MEMBERS:,} files: no data set does")


def _check_claim(claimed_bytes: int, archive_bytes: int) -> None:
    if claimed_bytes > MOST_EXPANSION * archive_bytes + _BLOCK_BYTES:
        raise DownloadError(
            f"the archive of {archive_bytes:,} bytes claims to hold {claimed_bytes:,}: no data set does"
        )

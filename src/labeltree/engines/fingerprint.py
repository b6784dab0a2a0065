"""The files of a directory, by name, size and time: whether two machines see the same directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class FileStamp(NamedTuple):
    """A file of a directory: its path below the directory, its size, and when it was changed, in nanoseconds."""

    name: str
    n_bytes: int
    mtime_ns: int

    def is_of(self, directory: str | os.PathLike[str]) -> bool:
        """Return whether a directory has this file."""
        try:
            found = os.stat(Path(directory, self.name))
        except OSError:
            return False
        return (found.st_size, found.st_mtime_ns) == (self.n_bytes, self.mtime_ns)


def file_stamps(directory: Path) -> tuple[FileStamp, ...]:
    """Return all files of a directory and the directories in it, in the order of their names."""
    stamps = []
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        status = path.stat()
        stamps.append(FileStamp(path.relative_to(directory).as_posix(), status.st_size, status.st_mtime_ns))
    return tuple(stamps)


def has_files(directory: str | os.PathLike[str], stamps: tuple[FileStamp, ...]) -> bool:
    """Return whether a directory exists and has these files."""
    return os.path.isdir(directory) and all(stamp.is_of(directory) for stamp in stamps)

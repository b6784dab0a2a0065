"""The files of an import: found by name or pattern, and recognised."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labeltree.data.columns import Columns
from labeltree.data.formats import NUMBER_FORMATS, format_of_content, format_of_name
from labeltree.data.lines import LineError
from labeltree.data.sources import open_peeked
from labeltree.errors import DataFormatError


@dataclass(frozen=True)
class SourceFile:
    """A file to import, as it was when the import began."""

    path: str
    format: str
    n_bytes: int
    modified_ns: int

    @classmethod
    def recognise(cls, path: str, format: str, columns: Columns, label_prefix: str) -> SourceFile:
        """Look at a file; raise `DataFormatError` if its format is not known."""
        found: Any = format_of_name(path) if format == "auto" else format
        if found is None:
            with open_peeked(path) as (head, _):
                try:
                    found = format_of_content(head, columns, label_prefix)
                except LineError as error:
                    raise DataFormatError(error.reason, path, error.line) from None
        return cls.of(path, found)

    @classmethod
    def of(cls, path: str, format: str) -> SourceFile:
        """Return a file of this format as it is now."""
        status = os.stat(path)
        return cls(path, format, status.st_size, status.st_mtime_ns)

    @property
    def has_numbers(self) -> bool:
        return self.format in NUMBER_FORMATS

    def identity(self) -> dict[str, Any]:
        """Return what tells the file from others: an import resumes only with the same files."""
        return {
            "path": os.path.abspath(self.path),
            "format": self.format,
            "bytes": self.n_bytes,
            "modified_ns": self.modified_ns,
        }

    def check_unchanged(self) -> None:
        """Raise `DataFormatError` if the file has changed since it was recognised."""
        status = os.stat(self.path)
        if (status.st_size, status.st_mtime_ns) != (self.n_bytes, self.modified_ns):
            raise DataFormatError("the file changed while it was imported: import the data again", self.path)


def find_files(patterns: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the files in the order of the names and patterns; the files of a pattern are sorted.

    ``**`` in a pattern stands for any number of folders. Raises `FileNotFoundError` for a name or pattern without a
    file, `ValueError` for a file that comes twice or that cannot be read again, such as a pipe.
    """
    found: dict[str, str] = {}  # by the path without links and dots
    for pattern in [os.fspath(given) for given in patterns]:
        if pattern == "-":
            raise ValueError(
                "an import reads files, and may read them again to resume: write standard input to a file first"
            )
        is_pattern = glob.has_magic(pattern) and not os.path.exists(pattern)
        matches = [path for path in sorted(glob.glob(pattern, recursive=True)) if not os.path.isdir(path)]
        if is_pattern and not matches:
            raise FileNotFoundError(f"no file has a name like {pattern}")
        for path in matches if is_pattern else [pattern]:
            os.stat(path)  # raises for a file that is not there
            if not os.path.isfile(path):
                raise ValueError(f"{path}: expected a file, got a directory, a pipe or a device")
            if os.path.realpath(path) in found:
                raise ValueError(f"{path}: expected every file once, got it twice")
            found[os.path.realpath(path)] = path
    if not found:
        raise ValueError("expected at least one file, got none")
    return list(found.values())

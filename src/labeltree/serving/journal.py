"""A journal beside a model: examples are on disk before they are acknowledged.

The journal of ``DIR`` is the directory ``DIR.journal``. Its files are parts of the journal: ``000000012000.jsonl``
begins when the model has learned 12,000 examples. A line is a CRC-32 and an object with `first`, the number of examples
that the model had learned before, and `examples`. The model counts its examples too, so it is known which it lacks.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from labeltree.data.atomic_file import sync_folder

if sys.platform != "win32":
    import fcntl

_PART_NAME = re.compile(r"[0-9]{12}\.jsonl", re.ASCII)
_LOCK_NAME = "lock"


def journal_of(model: Path) -> Path:
    """Return the path of the journal of a model."""
    return model.with_name(f"{model.name}.journal")


@dataclass(frozen=True)
class Record:
    """Examples that were written together, and the number of examples that the model had learned before."""

    first: int
    examples: list[dict[str, Any]]
    position: int
    is_last: bool = True


class Journal:
    """Appends records to files, and syncs each before `append` returns.

    An incomplete last line is dropped: its writer was killed before it could acknowledge the examples. An incomplete
    line before others is an error. Only one process at a time can open a journal.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "pets.journal")
    ...     list(journal.records())
    ...     _ = journal.append(0, [{"text": "purrs", "labels": ["cat"]}])
    ...     journal.close()
    ...     again = Journal(Path(folder) / "pets.journal")
    ...     [(record.first, len(record.examples)) for record in again.records()]
    ...     again.close()
    []
    [(0, 1)]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)
        self._lock_file = (path / _LOCK_NAME).open("ab")
        if sys.platform != "win32":
            try:
                fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._lock_file.close()
                raise ValueError(f"{path}: another server learns into this model; stop it first") from None
        self._part: BinaryIO | None = None
        self._changing = threading.Lock()  # one thread begins parts, another removes them

    @property
    def first(self) -> int:
        """The number of examples that a model must have learned before those of the journal."""
        return min((int(path.stem) for path in self._parts()), default=0)

    def records(self) -> Iterator[Record]:
        """Yield all records, oldest first, and open the last part for more."""
        parts = self._parts()
        for path in parts:
            if path == parts[-1]:
                self._part = path.open("ab")
            lines = path.read_bytes().splitlines(keepends=True)
            position = 0
            for number, line in enumerate(lines, 1):
                is_last = path == parts[-1] and number == len(lines)
                content = _parsed(line)
                if content is not None:
                    yield Record(content["first"], content["examples"], position, is_last)
                elif is_last:
                    self._cut(position)
                else:
                    raise ValueError(
                        f"{path}:{number}: this line is damaged, and complete lines follow it; restore the file, or "
                        "move the journal away and lose its examples"
                    )
                position += len(line)

    def append(self, first: int, examples: list[dict[str, Any]]) -> Record:
        """Write examples; when this returns, they are safe on disk."""
        with self._changing:
            part = self._open_part(first)
            record = Record(first, examples, part.tell())
            try:
                part.write(_line(first, examples))
                _sync(part)
            except OSError:  # the examples are refused, so the next start must not learn them
                _discard_from(part, record.position)
                raise
        return record

    def take_back(self, record: Record, n_kept: int) -> None:
        """Keep only the first examples of the last record."""
        with self._changing:
            self._cut(record.position, _line(record.first, record.examples[:n_kept]) if n_kept else b"")

    def begin_part(self, first: int) -> None:
        """Write the following records to a new file."""
        with self._changing:
            self._close_part()
            self._open_part(first)

    def restart(self, first: int) -> None:
        """Remove all parts, because the model has all of their examples, and begin a new one."""
        with self._changing:
            self._close_part()
            for path in self._parts():
                path.unlink()
            self._open_part(first)

    def remove_parts_before(self, n_examples: int) -> None:
        """Remove the parts with examples before this number only."""
        with self._changing:
            for path, following in pairwise(self._parts()):
                if int(following.stem) <= n_examples:
                    path.unlink()
            sync_folder(self.path)

    def close(self) -> None:
        """Close the files, so that another process can open the journal."""
        self._close_part()
        self._lock_file.close()

    def _open_part(self, first: int) -> BinaryIO:
        if self._part is None:
            self._part = (self.path / f"{first:012d}.jsonl").open("ab")
            sync_folder(self.path)
        return self._part

    def _close_part(self) -> None:
        if self._part is not None:
            self._part.close()
            self._part = None

    def _cut(self, position: int, replacement: bytes = b"") -> None:
        """Replace the end of the current part."""
        assert self._part is not None
        self._part.truncate(position)
        self._part.seek(position)
        self._part.write(replacement)
        _sync(self._part)

    def _parts(self) -> list[Path]:
        return sorted(path for path in self.path.iterdir() if _PART_NAME.fullmatch(path.name))


def _line(first: int, examples: list[dict[str, Any]]) -> bytes:
    text = json.dumps({"first": first, "examples": examples}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line, or None if it is incomplete or damaged."""
    checksum, _, text = line.partition(b" ")
    if not text.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text[:-1]):
        return None
    with suppress(ValueError):
        record: dict[str, Any] = json.loads(text)
        return record
    return None


def _discard_from(file: BinaryIO, position: int) -> None:
    """Truncate a file that cannot be written any more, and discard its buffer."""
    with suppress(OSError):
        os.ftruncate(file.fileno(), position)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())

"""Examples on disk before they are acknowledged: a journal beside the model.

The journal of ``DIR`` is the directory ``DIR.journal``, with files such as ``000000012000.jsonl``: the part that begins
when the model has learned 12,000 examples. A line is the CRC-32 of the rest, and an object: ``first``, how many
examples the model had learned before, and ``examples``. The model counts its examples too: so it is known which it
lacks.
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
    """Where the journal of a model is."""
    return model.with_name(f"{model.name}.journal")


@dataclass(frozen=True)
class Record:
    """Examples that were written together, and how many the model had learned before."""

    first: int
    examples: list[dict[str, Any]]
    position: int
    is_last: bool = True


class Journal:
    """Appends records, each synced before `append` returns, in parts that can be removed one by one.

    A last line that is not whole is dropped: whoever wrote it was killed before it could acknowledge anything. A line
    in the middle that is not whole is an error. One process at a time may have a journal open.

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
        self._changing = threading.Lock()  # parts are begun and removed by two threads

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def first(self) -> int:
        """How many examples a model must have learned before those of the journal."""
        return min((int(path.stem) for path in self._parts()), default=0)

    def records(self) -> Iterator[Record]:
        """All records, oldest first; afterwards the journal is open for more."""
        parts = self._parts()
        for number, path in enumerate(parts):
            is_last_part = number == len(parts) - 1
            part = path.open("r+b") if is_last_part else path.open("rb")
            if is_last_part:
                self._part = part
            try:
                yield from self._records_of(part, is_last_part)
            finally:
                if not is_last_part:
                    part.close()

    def _records_of(self, part: BinaryIO, is_last_part: bool) -> Iterator[Record]:
        position = 0
        lines = part.read().splitlines(keepends=True)
        for i, line in enumerate(lines):
            record = _parsed(line, position)
            is_last = i == len(lines) - 1
            if record is None and not (is_last and is_last_part):
                raise ValueError(
                    f"{part.name}:{i + 1}: this line is damaged, though others were written after it; restore the "
                    "file, or move the journal away and lose what is in it"
                )
            if record is None:
                part.truncate(position)
                os.fsync(part.fileno())
                break
            yield Record(record["first"], record["examples"], position, is_last and is_last_part)
            position += len(line)
        part.seek(0, os.SEEK_END)

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, first: int, examples: list[dict[str, Any]]) -> Record:
        """Write examples; when this returns they survive whatever happens."""
        with self._changing:
            part = self._begun(first)
            record = Record(first, examples, part.tell())
            try:
                part.write(_line(first, examples))
                _sync(part)
            except OSError:
                _forget_from(
                    part, record.position
                )  # it is refused, and must not be learned at the next start
                raise
        return record

    def take_back(self, record: Record, n_kept: int) -> None:
        """Keep only the first examples of the last record."""
        with self._changing:
            part = self._begun(record.first)
            part.flush()
            part.truncate(record.position)
            part.seek(record.position)
            if n_kept:
                part.write(_line(record.first, record.examples[:n_kept]))
            _sync(part)

    def begin_part(self, first: int) -> None:
        """Write what follows to another file."""
        with self._changing:
            if self._part is not None:
                self._part.close()
                self._part = None
            self._begun(first)

    def begin_anew(self, first: int) -> None:
        """Remove all parts, for a model that has all of their examples, and begin one."""
        with self._changing:
            if self._part is not None:
                self._part.close()
                self._part = None
            for path in self._parts():
                path.unlink()
            self._begun(first)

    def remove_parts_before(self, n_examples: int) -> None:
        """Remove the parts whose examples are all in a model that has learned so many."""
        with self._changing:
            parts = self._parts()
            for path, following in pairwise(parts):
                if int(following.stem) <= n_examples:
                    path.unlink()
            sync_folder(self.path)

    def close(self) -> None:
        """Close the files; another process may then have the journal."""
        if self._part is not None:
            self._part.close()
        self._lock_file.close()

    def _begun(self, first: int) -> BinaryIO:
        if self._part is None:
            self._part = (self.path / f"{first:012d}.jsonl").open("ab")
            sync_folder(self.path)
        return self._part

    def _parts(self) -> list[Path]:
        return sorted(path for path in self.path.iterdir() if _PART_NAME.fullmatch(path.name))


def _line(first: int, examples: list[dict[str, Any]]) -> bytes:
    text = json.dumps({"first": first, "examples": examples}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes, position: int) -> dict[str, Any] | None:
    """What a line says, or None if it is not whole."""
    checksum, _, text = line.partition(b" ")
    if not text.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text[:-1]):
        return None
    with suppress(ValueError):
        record: dict[str, Any] = json.loads(text)
        return record
    return None


def _forget_from(file: BinaryIO, position: int) -> None:
    """Cut a file off that cannot be written any more, and let what is still in its buffer go nowhere."""
    with suppress(OSError):
        os.ftruncate(file.fileno(), position)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())

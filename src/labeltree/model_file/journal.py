"""A journal beside a model: examples are on disk before they are acknowledged.

The journal of ``DIR`` is the directory ``DIR.journal`` beside the directory that ``DIR`` leads to. Its files are parts
of the journal: ``000000012000.jsonl`` begins when the model has learned 12,000 examples. A line is a CRC-32 and an
object:

- a *record*: examples, and the number of examples that the model had learned before;
- the examples of the record before that the model refused;
- a *mark*: a version of the model that goes with the journal, and the number of examples that it has learned;
- *receipts*: what became of the last requests that had a key.

A mark is written before its version of the model replaces the old one. So whoever opens both finds the mark of the
version that is there, and knows which examples it lacks.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from labeltree.data.atomic_file import sync_folder
from labeltree.model_file.journal_lines import (
    Contents,
    Lesson,
    Mark,
    Receipt,
    Record,
    Refused,
    mark_line,
    parts,
    receipts_line,
    refused_line,
)


def journal_of(model: Path) -> Path:
    """Return the path of the journal of a model, the same for all paths that lead to the model."""
    directory = Path(os.path.realpath(model))
    return directory.with_name(f"{directory.name}.journal")


class Journal:
    """Appends lines to a journal, and syncs each before it returns. Its writer must have the lock of the model.

    A write that fails changes nothing: the next one first removes what is left of it. The journal is made with
    its first record.

    Parameters
    ----------
    path : path of a directory
    contents : Contents
        What is in the journal. An incomplete last line is removed: nobody was told of it.
    mark : Mark
        The version of the model from which the journal goes on.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree.model_file.journal_lines import records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.journal"
    ...     journal = Journal(path, Contents.read(path), Mark("3f1c09a2", 0))
    ...     _ = journal.append(0, [{"text": "purrs", "labels": ["cat"]}])
    ...     journal.close()
    ...     [(record.first, len(record.examples)) for record in records(path)]
    [(0, 1)]
    """

    def __init__(self, path: Path, contents: Contents, mark: Mark) -> None:
        self.path = path
        self.receipts = contents.receipts
        # Lines that must come before any other: they could not be written, or need not be there without others.
        self._due = b"" if mark in contents.marks else mark_line(mark)
        self._part: BinaryIO | None = None
        self._end = 0
        files = parts(path)
        if files:
            self._open(files[-1])
            if contents.torn is not None and contents.torn[0] == files[-1]:
                self._end = contents.torn[1]

    @property
    def exists(self) -> bool:
        """Whether there is anything on disk."""
        return bool(parts(self.path))

    def append(
        self, first: int, examples: list[dict[str, Any]], lessons: list[Lesson] | None = None
    ) -> Record:
        """Write examples; when this returns, they are safe on disk."""
        record = Record(first, examples, lessons or [Lesson(len(examples))])
        if self._part is None:
            self._begin(first)
        self._write(record.line())
        return record

    def refuse(self, record: Record, refused: Refused) -> None:
        """Write that examples of the last record are not learned. If that fails, it is written before the next line."""
        record.refused.append(refused)
        line = refused_line(record.first, refused)
        try:
            self._write(line)
        except OSError:  # whoever replays the record is refused them, too
            self._due += line

    def mark(self, mark: Mark) -> None:
        """Write that a version of the model goes with the journal, before it replaces the one before it."""
        if self._part is None:  # either may be the one that the first record goes on from
            self._due += mark_line(mark)
        else:
            self._write(mark_line(mark))

    def note_saved(self, mark: Mark) -> None:
        """Note that this version is now the model."""
        if self._part is None:
            self._due = mark_line(mark)

    def begin_part(self, first: int, receipts: list[Receipt]) -> None:
        """Write the following lines to a new file, which begins with these receipts."""
        if self._part is not None:
            self._write(b"")  # what is left of a failed write must not stay in the middle
        self._begin(first)
        if receipts:
            self._write(receipts_line(receipts))

    def remove_parts_before(self, n_examples: int) -> None:
        """Remove the parts with examples before this number only."""
        for path, following in pairwise(parts(self.path)):
            if int(following.stem) <= n_examples:
                path.unlink()
        sync_folder(self.path)

    def remove(self) -> None:
        """Remove the journal: the model has all of its examples."""
        self.close()
        if not self.path.exists():
            return
        for path in parts(self.path):
            path.unlink()
        with suppress(OSError):  # not there, or something else is in it
            (self.path / "lock").unlink(missing_ok=True)  # of an earlier version of labeltree
            self.path.rmdir()
        sync_folder(self.path.parent)

    def close(self) -> None:
        """Close the files."""
        if self._part is not None:
            self._part.close()
            self._part = None

    def _begin(self, first: int) -> None:
        if not self.path.exists():
            self.path.mkdir()
            sync_folder(self.path.parent)
        self.close()
        self._open(self.path / f"{first:012d}.jsonl")
        try:
            sync_folder(self.path)
        except OSError:  # a record in this file could be lost: the next one tries again
            self.close()
            raise

    def _open(self, path: Path) -> None:
        self._part = path.open("ab", buffering=0)
        self._end = os.fstat(self._part.fileno()).st_size

    def _write(self, lines: bytes) -> None:
        """Write lines behind those that are due, and sync them; remove everything that an earlier failure has left."""
        assert self._part is not None
        written = self._due + lines
        if os.fstat(self._part.fileno()).st_size > self._end:
            self._part.truncate(self._end)
        try:
            n_written = 0
            while n_written < len(written):  # a disk that becomes full takes less than it is given
                n_written += self._part.write(written[n_written:])
            os.fsync(self._part.fileno())
        except OSError:
            with suppress(OSError):
                self._part.truncate(self._end)
                os.fsync(self._part.fileno())
            raise
        self._end += len(written)
        self._due = b""

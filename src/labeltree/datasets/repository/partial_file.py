"""A download in progress, which a later process can resume."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path


class PartialFile(io.BufferedWriter):
    """A file that grows as a download proceeds. A JSON file beside it says which download it belongs to.

    Attributes
    ----------
    validator : str or None
        The server's entity tag or modification time of the file.
    total : int or None
        Size of the complete file in bytes, if the server has announced it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "a"))
        self._path = path
        self._note = path.with_name(f"{path.name}.json")
        self.validator: str | None = None
        self.total: int | None = None
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            note = json.loads(self._note.read_text(encoding="utf-8"))
            self.validator = note["validator"] if isinstance(note["validator"], str) else None
            self.total = note["total"] if isinstance(note["total"], int) else None
        if self.validator is None and self.total is None:
            self.restart()  # nothing could tell whether the rest belongs to the same file

    def expect(self, validator: str | None, total: int | None) -> None:
        """Save what the server says about the file, and check that the disk has space for it."""
        self.validator, self.total = validator, total
        self._note.write_text(json.dumps({"validator": validator, "total": total}), encoding="utf-8")
        free = shutil.disk_usage(self._path.parent).free
        if total is not None and total - self.tell() > free:
            raise OSError(errno.ENOSPC, f"expected {total - self.tell():,} free bytes, got {free:,}")

    def restart(self) -> None:
        """Discard the downloaded bytes."""
        self.validator = self.total = None
        self.seek(0)
        self.truncate()
        self._note.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Sync the file to disk and move it to `target`."""
        self.flush()
        os.fsync(self.fileno())
        self.close()
        os.replace(self._path, target)
        self._note.unlink(missing_ok=True)

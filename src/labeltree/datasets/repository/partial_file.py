"""A file that comes in pieces, and what must be known to go on with it later."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from pathlib import Path
from types import TracebackType


class PartialFile:
    """A download that has not ended. Beside it lies a note of what it is a part of.

    Attributes
    ----------
    validator : str or None
        What the server calls this state of the file: an entity tag or a time.
    total : int or None
        How large it will be, if the server has said so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._note = path.with_name(f"{path.name}.json")
        self.validator: str | None = None
        self.total: int | None = None
        path.touch()
        self._file = open(path, "r+b")  # noqa: SIM115
        if not self._remember():
            self.restart()
        self._file.seek(0, os.SEEK_END)

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        """How much has come."""
        return self._file.tell()

    def expect(self, validator: str | None, total: int | None) -> None:
        """Write down what the server says of the file, and see that there is room for it."""
        self.validator, self.total = validator, total
        self._note.write_text(json.dumps({"validator": validator, "total": total}), encoding="utf-8")
        free = shutil.disk_usage(self.path.parent).free
        if total is not None and total - self.size > free:
            raise OSError(
                errno.ENOSPC, f"{total - self.size:,} bytes are to come, and there is room for {free:,}"
            )

    def write(self, block: bytes) -> None:
        self._file.write(block)

    def restart(self) -> None:
        """Forget what has come."""
        self.validator = self.total = None
        self._file.seek(0)
        self._file.truncate()
        self._note.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the file its name, once it is safely on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self.path, target)
        self._note.unlink(missing_ok=True)

    def _remember(self) -> bool:
        """Read the note; False when there is none that helps."""
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
            note = json.loads(self._note.read_text(encoding="utf-8"))
            validator, total = note["validator"], note["total"]
            self.validator = validator if isinstance(validator, str) else None
            self.total = total if isinstance(total, int) else None
        # Without either nobody could tell whether the rest is of the same file.
        return self.validator is not None or self.total is not None

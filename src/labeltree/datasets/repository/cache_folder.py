"""The folder of all data sets, and its locks."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.1


def cache_folder(path: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of all data sets.

    It is `path`, by default the environment variable ``LABELTREE_DATA_HOME``, or else ``labeltree`` in
    ``XDG_CACHE_HOME`` or ``~/.cache``.
    """
    if path is None:
        path = os.environ.get("LABELTREE_DATA_HOME") or None
    if path is not None:
        return Path(path).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore relative paths.
    return (Path(caches) if os.path.isabs(caches) else Path.home() / ".cache") / "labeltree"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create a folder, and wait until no other process or thread has locked it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "ab") as file:
        if not _try_lock(file.fileno()):
            logger.warning("another process fetches into %s: waiting for it", folder)
            while not _try_lock(file.fileno()):
                time.sleep(_POLL_SECONDS)
        yield  # closing the file releases the lock, even when the process is killed


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

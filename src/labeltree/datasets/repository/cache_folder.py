"""Where data sets are kept, and who may write there."""

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


def cache_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of all data sets.

    It is what was given, else what the environment variable ``LABELTREE_DATA_HOME`` says, else ``labeltree`` in
    ``XDG_CACHE_HOME`` or in ``~/.cache``.
    """
    if given is not None:
        return Path(given).expanduser()
    if home := os.environ.get("LABELTREE_DATA_HOME"):
        return Path(home).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME", "")
    # Others than absolute paths are to be ignored, says who made up the variable.
    return (Path(caches) if os.path.isabs(caches) else Path.home() / ".cache") / "labeltree"


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Make the folder, and wait until no other process or thread writes to it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "ab") as file:
        waits = False
        while not _try_lock(file.fileno()):
            if not waits:
                logger.warning("another process fetches into %s: waiting for it", folder)
                waits = True
            time.sleep(_POLL_SECONDS)
        yield  # closing the file gives the lock back, also when the process is killed


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

"""Files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from .compression import compressing


@contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the name `path` when it is complete and safely on disk.

    It is written beside its target under a temporary name, compressed if `path` ends in ``.gz``, ``.xz`` or
    ``.zst``. When the block fails, what was there before is untouched and nothing is left behind.
    """
    target = os.path.realpath(path)  # a symbolic link stays, and its target is replaced
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
    with open(temporary, "xb") as file:
        try:
            with compressing(name, file) as writer:
                yield writer
            file.flush()
            os.fsync(file.fileno())
            file.close()  # Windows renames only closed files
            os.replace(temporary, target)
        except BaseException:
            file.close()
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    sync_folder(folder)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the names in a folder survive a crash, where the system lets folders be synced."""
    if sys.platform == "win32":  # a folder cannot be opened there
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems know no such thing
            raise
    finally:
        os.close(descriptor)

"""Atomic writes: a file is either complete or does not exist."""

from __future__ import annotations

import errno
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from .compression import compressing

#: Errors of a disk without room, and of a file or a user that must not have more.
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def naming_full_disk(directory: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Say of a full disk which directory is on it, what was written there, and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL_DISK or error.filename is not None:
            raise
        raise OSError(error.errno, f"{error.strerror} for {what}", os.fspath(directory)) from error


@contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that is renamed to `path` when it is complete and synced to disk.

    It is written beside its target under a temporary name, compressed if `path` ends in ``.gz``, ``.xz`` or
    ``.zst``. If the block fails, the temporary file is removed, and an existing file is not changed. A device or a
    pipe, such as ``/dev/null``, is written to as it is: a file must not take its place.
    """
    target = os.path.realpath(path)  # keep a symbolic link, and replace its target
    folder, name = os.path.split(target)
    if os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target):
        with open(target, "wb") as file, compressing(name, file) as writer:
            yield writer
        return
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
            with suppress(OSError):  # on a full disk, which has no room for the rest of the buffer either
                file.close()
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    sync_folder(folder)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync a folder to disk, so that its file names survive a crash; do nothing where this is not supported."""
    if sys.platform == "win32":  # folders cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems do not support it
            raise
    finally:
        os.close(descriptor)

"""The lock of a model's directory: one process at a time may change a model."""

from __future__ import annotations

import errno
import logging
import os
import platform
import stat
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from labeltree.data.atomic_file import sync_folder
from labeltree.errors import ModelFileError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_NAME = ".lock"
#: How long to wait for another process, in seconds.
WAIT_SECONDS = 5.0

_LOOK_SECONDS = 0.005
#: A link in the place of the file could lead to any file of this user, and the lock is written to.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)

_logger = logging.getLogger(__name__)


class ModelLock:
    """Lets nobody else change a model, until `release` or until the process ends. Readers need no lock.

    The system locks the file ``.lock`` in the directory, so a process that is killed leaves no lock behind. All paths
    that lead to the directory lead to the same lock. Two threads of one process exclude each other, too. A child
    process that is forked does not have the lock of its parent.

    Parameters
    ----------
    directory : path of a directory
        Made if it does not exist, and then removed by `release` if it is still empty.
    purpose : str
        Why the model is locked, for the message that another process gets: ``"saves this model"``.
    wait_seconds : float
        How long to wait for another process.

    Raises
    ------
    ModelFileError
        If another process, or another thread, has the lock. The message names it. Also if the lock is not a
        regular file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ModelLock(Path(folder), "saves this model"):
    ...     ModelLock(Path(folder), "learns", wait_seconds=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    labeltree.errors.ModelFileError: ...: process ... saves this model; wait until it is done, or choose another ...
    """

    def __init__(self, directory: Path, purpose: str, wait_seconds: float = WAIT_SECONDS) -> None:
        self.directory = directory
        self._has_made_directory = False
        until = time.monotonic() + wait_seconds
        while True:
            is_over = time.monotonic() >= until
            try:
                self._make_directory()
                self._file: BinaryIO | None = self._open()
            except FileNotFoundError:  # its maker gave up, and removed it
                if is_over:
                    raise
                continue
            if self._file is not None:
                break
            if is_over:
                raise ModelFileError(
                    f"{directory}: {self._holder()}; wait until it is done, or choose another directory"
                )
            time.sleep(_LOOK_SECONDS)
        _held.add(self)
        with suppress(OSError):  # a full disk: then the message for others has no name
            self._file.truncate(0)
            self._file.write(f"process {os.getpid()} on {platform.node()} {purpose}".encode())

    def check(self, directory: Path) -> None:
        """Raise unless this process has the lock, and it is the lock of this directory."""
        if self._file is None:
            raise ModelFileError(f"{directory}: this process does not have the lock of the model (any more)")
        if not _is_same(self._file, directory / LOCK_NAME):
            raise ModelFileError(
                f"{directory}: another directory was put in its place while the model was open; nothing was written"
            )

    def release(self) -> None:
        """Let others change the model."""
        file, self._file = self._file, None
        if file is None:
            return
        _held.discard(self)
        try:
            # Removed while it is locked: who waits for it sees that it is gone, and makes another.
            if sys.platform != "win32" and _is_same(file, self.directory / LOCK_NAME):
                os.unlink(self.directory / LOCK_NAME)
        finally:
            file.close()
        if sys.platform == "win32":  # does not remove open files
            with suppress(OSError):
                os.unlink(self.directory / LOCK_NAME)
        if self._has_made_directory:
            with suppress(OSError):  # not empty: the model is there
                os.rmdir(os.path.realpath(self.directory))

    def __enter__(self) -> ModelLock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def _make_directory(self) -> None:
        # A link may lead to a directory that is not there yet.
        directory = Path(os.path.realpath(self.directory))
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            return
        self._has_made_directory = True
        sync_folder(directory.parent)

    def _open(self) -> BinaryIO | None:
        """Return the file if it could be locked, and None if another has locked it."""
        path = self.directory / LOCK_NAME
        try:
            file = os.fdopen(os.open(path, _FLAGS, 0o666), "r+b", buffering=0)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EISDIR):
                raise _not_a_file(path) from error
            raise
        try:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise _not_a_file(path)
            if _try_lock(file) and _is_same(file, path):
                if os.fstat(file.fileno()).st_nlink <= 1:
                    return file
                os.unlink(path)  # another name of some file, which must not be written to
            file.close()
            return None
        except BaseException:
            file.close()
            raise

    def _holder(self) -> str:
        with suppress(OSError):
            if holder := (self.directory / LOCK_NAME).read_text(errors="replace"):
                return holder
        return "another process has locked this model"

    def _forget(self) -> None:
        """Close the file in a forked child: the lock stays with the parent, and ends with it."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _try_lock(file: BinaryIO) -> bool:
    """Lock a file, and return whether that was possible."""
    try:
        if sys.platform == "win32":
            file.seek(1 << 20)  # behind the text, which others may read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            file.seek(0)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            _logger.warning("%s: this file system has no locks; let one process at a time save", file.name)
            return True
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _not_a_file(path: Path) -> ModelFileError:
    return ModelFileError(f"{path}: expected a regular file, got something else; remove it")


def _is_same(file: BinaryIO, path: Path) -> bool:
    """Return whether an open file is the one that is at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False


def _after_fork() -> None:
    for lock in list(_held):
        lock._forget()
    _held.clear()


#: The locks that this process has.
_held: weakref.WeakSet[ModelLock] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

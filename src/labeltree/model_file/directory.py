"""The directory of a model: only files inside are opened, and they are replaced so that no crash can hurt."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from labeltree.data.atomic_file import sync_folder
from labeltree.errors import ModelFileError
from labeltree.model_file.fields import TENSOR_FILE_NAME, StoredFile
from labeltree.model_file.lock import LOCK_NAME, ModelLock
from labeltree.model_file.strict_json import parse_json
from labeltree.model_file.tensors import Tensor, write_tensors

DOCUMENT_NAME = "model.json"
MAX_DOCUMENT_BYTES = 1 << 24
_TEMPORARY_NAME = re.compile(r"\.saving-[0-9a-f]{16}\.tmp", re.ASCII)


@contextlib.contextmanager
def blaming(what: object) -> Iterator[None]:
    """Turn what goes wrong inside into a `ModelFileError` that begins with the file or directory at fault."""
    try:
        yield
    except OSError as error:
        raise ModelFileError(f"{what}: {error.strerror or error}") from error
    except ValueError as error:
        raise ModelFileError(f"{what}: {error}") from error


@contextlib.contextmanager
def open_inside(directory: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file of the directory; `ValueError` if it is none, or a link that leads elsewhere."""
    path = directory / name
    if os.path.dirname(os.path.realpath(path)) != os.path.realpath(directory):
        raise ValueError("this is a link to a file outside of the directory")
    # Looked at before it is opened: opening a named pipe would wait for ever.
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("this is not a regular file")
    with path.open("rb") as file:
        yield file


def read_document(directory: Path) -> bytes:
    """The bytes of ``model.json``."""
    if not directory.is_dir():
        raise ValueError(
            "there is no such directory" if not directory.exists() else "this is not a directory"
        )
    try:
        with open_inside(directory, DOCUMENT_NAME) as file:
            text = file.read(MAX_DOCUMENT_BYTES + 1)
    except FileNotFoundError:
        raise ValueError(
            f"there is no {DOCUMENT_NAME} in this directory; it is not a model of labeltree"
        ) from None
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ValueError(
            f"{DOCUMENT_NAME} has more than {MAX_DOCUMENT_BYTES} bytes, more than any model needs"
        )
    return text


def version_of(document: bytes) -> str:
    """Return the version of a model, the hash of ``model.json``: it names the hashes of all other files."""
    return hashlib.sha256(document).hexdigest()


def is_model(value: Any) -> bool:
    """Whether parsed JSON is a ``model.json`` of any version."""
    return isinstance(value, dict) and value.get("format") == "labeltree"


class ModelWriter:
    """Writes tensor files into a directory and then, in one step, makes them its model.

    A context manager: until `commit` the directory's old model is untouched, and files that did not become
    part of a model are removed on the way out. The directory is made if it is not there; one with anything
    but a model in it is refused. It is locked meanwhile: the files of another writer are never removed.

    Parameters
    ----------
    directory : path of a directory
    lock : ModelLock, optional
        The lock of the directory, if the caller has it already.
    before_commit : callable, optional
        Called with the version of the new model just before it replaces the old one.
    """

    def __init__(
        self,
        directory: Path,
        lock: ModelLock | None = None,
        before_commit: Callable[[str], None] | None = None,
    ) -> None:
        self.directory = directory
        self._before_commit = before_commit
        self._written: set[str] = set()
        self._given_lock = lock

    def __enter__(self) -> ModelWriter:
        check_replaceable(self.directory)  # before a file of ours is put there
        self._lock = self._given_lock or ModelLock(self.directory, "saves this model")
        try:
            self._lock.check(self.directory)
            check_replaceable(self.directory)
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # All of our files, not only the last model's: an earlier save may have been killed. If this one was
            # interrupted, that may have been just after the commit: what counts is the disk.
            self._remove_unused(
                {path.name for path in self.directory.iterdir()} if kind is None else self._written
            )
        finally:
            self._release()

    def _release(self) -> None:
        if self._given_lock is None:
            self._lock.release()

    def add(self, stem: str, tensors: Mapping[str, Tensor]) -> StoredFile:
        """Write a tensor file under a name that no other content has."""
        temporary = self._temporary_name()
        with (self.directory / temporary).open("xb") as file:
            written = write_tensors(file, tensors)
            _sync(file)
        stored = StoredFile(f"{stem}-{written.content[:32]}.safetensors", written.n_bytes, written.sha256)
        self._written.add(stored.name)
        os.replace(self.directory / temporary, self.directory / stored.name)
        return stored

    def commit(self, document: str) -> None:
        """Replace ``model.json``: from now on the directory holds the new model."""
        temporary = self._temporary_name()
        text = document.encode() + b"\n"
        with (self.directory / temporary).open("xb") as file:
            file.write(text)
            _sync(file)
        # The tensor files must be there for good before anything names them.
        sync_folder(self.directory)
        if self._before_commit is not None:
            self._before_commit(version_of(text))
        os.replace(self.directory / temporary, self.directory / DOCUMENT_NAME)
        sync_folder(self.directory)

    def _temporary_name(self) -> str:
        name = f".saving-{secrets.token_hex(8)}.tmp"
        self._written.add(name)
        return name

    def _remove_unused(self, names: set[str]) -> None:
        """Remove those of the files that are ours and that ``model.json``, as it is now, does not name."""
        try:
            named = (self.directory / DOCUMENT_NAME).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            named = ""
        for name in names:
            if _is_ours(name) and name != LOCK_NAME and name not in named:
                # Windows does not remove files that are mapped; the next save tries again.
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    os.unlink(self.directory / name)


def check_replaceable(directory: Path) -> None:
    """Raise unless a model may be written here without harm to anything else."""
    if not directory.exists():
        return
    if not directory.is_dir():
        raise ModelFileError(
            f"{directory} is not a directory; a model is saved as a directory, choose another name"
        )
    names = {path.name for path in directory.iterdir()}
    if DOCUMENT_NAME in names:
        try:
            replaceable = is_model(parse_json(read_document(directory)))
        except ValueError:
            replaceable = False
    else:
        replaceable = all(map(_is_ours, names))  # nothing, or what a killed save has left
    if not replaceable:
        raise ModelFileError(
            f"{directory} exists and is not a model of labeltree; "
            "nothing was written: choose another name, or remove the directory"
        )


def _is_ours(name: str) -> bool:
    return bool(TENSOR_FILE_NAME.fullmatch(name) or _TEMPORARY_NAME.fullmatch(name) or name == LOCK_NAME)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())

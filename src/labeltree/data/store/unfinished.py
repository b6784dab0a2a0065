"""The directory of a store that is to be written: a new one, or one to resume."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from labeltree.data.atomic_file import sync_folder
from labeltree.model_file.lock import LOCK_NAME

from .array_names import (
    ARRAY_TYPES,
    DOCUMENT_NAME,
    PROGRESS_NAME,
    REPLACEMENT_NAME,
    file_name,
    stored_type,
)
from .document import StoreDocument
from .mapping import read_document
from .progress_file import Progress, job_hash

#: The temporary names that `open_atomic` gives to the documents of a store.
_TEMPORARY_NAME = re.compile(r"\.(store|unfinished)\.json\.[0-9a-f]{8}\.tmp", re.ASCII)
_ARRAY_FILES = frozenset(map(file_name, ARRAY_TYPES))


def prepare(path: Path, job: Mapping[str, Any], overwrite: bool) -> tuple[Path, Progress]:
    """Return the directory to write the store of a job to, and what is safe of the job; make the directory ready.

    A store that is to be replaced stays until the new one is complete, which is written to a directory inside. Raises
    `FileExistsError` if there is anything that must be kept, `ValueError` if an unfinished store is damaged.
    """
    names = _checked_names(path)
    folder = path / REPLACEMENT_NAME
    if REPLACEMENT_NAME in names:
        if DOCUMENT_NAME in _checked_names(folder):
            replace_store(path)
            names.add(DOCUMENT_NAME)
        elif DOCUMENT_NAME not in names:  # somebody removed the store
            discard(folder)
    if DOCUMENT_NAME in names:
        if not overwrite:
            raise FileExistsError(
                f"{path} has a store already: choose another directory, or replace it with --overwrite (overwrite=True)"
            )
        folder.mkdir(exist_ok=True)
        return folder, _begun(folder, job, overwrite)
    return path, _begun(path, job, overwrite)


def replace_store(path: Path) -> None:
    """Put the complete store in the directory of the replacement in the place of the old one.

    The document of the old store is removed first and that of the new one moves last, so that a document never
    describes the arrays of another store. If the process is killed meanwhile, the next writer does the rest.
    """
    folder = path / REPLACEMENT_NAME
    arrays = {file_name(name) for name in StoreDocument.parse(read_document(folder)).arrays}
    remove(path, DOCUMENT_NAME)
    sync_folder(path)
    for name in sorted(_ARRAY_FILES - arrays):
        remove(path, name)
    for name in sorted(arrays):
        with suppress(FileNotFoundError):  # moved already, by a process that was killed
            os.replace(folder / name, path / name)
    sync_folder(path)
    os.replace(folder / DOCUMENT_NAME, path / DOCUMENT_NAME)
    discard(folder)
    sync_folder(path)


def clear(path: Path) -> None:
    """Remove all files of a store, first its document: without it, the rest is no store."""
    for name in (DOCUMENT_NAME, PROGRESS_NAME, *sorted(_ARRAY_FILES)):
        remove(path, name)


def discard(folder: Path) -> None:
    """Remove all files of an unfinished store, and the directory of a replacement."""
    clear(folder)
    if folder.name == REPLACEMENT_NAME:
        folder.rmdir()


def remove(path: Path, name: str) -> None:
    """Remove a file of a store, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(path / name)


def _checked_names(path: Path) -> set[str]:
    """Return the names of the files of a store in a directory; raise `FileExistsError` if it has other files."""
    names = {entry.name for entry in path.iterdir()}
    for name in filter(_TEMPORARY_NAME.fullmatch, names):
        remove(path, name)
    if foreign := {name for name in names if not _is_ours(name)}:
        raise FileExistsError(
            f"{path} has other files, such as {min(foreign)}: choose another directory, or an empty one"
        )
    return names


def _begun(folder: Path, job: Mapping[str, Any], overwrite: bool) -> Progress:
    """Return what is safe of a job in a directory without a complete store; start anew if nothing is."""
    if os.path.lexists(folder / PROGRESS_NAME):
        progress = _progress_of(folder, job, overwrite)
        if progress is not None:
            return progress
    clear(folder)
    progress = Progress(job)
    progress.write(folder)
    return progress


def _progress_of(path: Path, job: Mapping[str, Any], overwrite: bool) -> Progress | None:
    """Return what is safe of this job; None to start anew."""
    try:
        progress = Progress.read(path)
        _check_sizes(path, progress)
    except ValueError as error:
        if overwrite:
            return None
        raise ValueError(f"{error}; start again with --overwrite (overwrite=True)") from None
    if job_hash(progress.job) == job_hash(job):
        return progress
    if overwrite:
        return None
    raise FileExistsError(
        f"{path} has an unfinished store of other files or other options ({_difference(progress.job, job)}): run the "
        "command that began it again, or start over with --overwrite (overwrite=True)"
    )


def _check_sizes(path: Path, progress: Progress) -> None:
    """Raise `ValueError` if an array has fewer items than are safe."""
    for name, n_items in progress.items.items():
        file, expected = path / file_name(name), n_items * stored_type(name).itemsize
        found = os.lstat(file).st_size if os.path.lexists(file) else 0
        if found < expected:
            raise ValueError(
                f"the unfinished store is damaged: expected {expected:,} bytes in {file.name}, got {found:,}"
            )


def _difference(found: Mapping[str, Any], job: Mapping[str, Any]) -> str:
    """Return the first part of two jobs that differs."""
    for name in sorted(found.keys() | job.keys()):
        if found.get(name) != job.get(name):
            return f"different {name}"
    return "a different job"


def _is_ours(name: str) -> bool:
    return (
        name in _ARRAY_FILES
        or name in (DOCUMENT_NAME, PROGRESS_NAME, REPLACEMENT_NAME, LOCK_NAME)
        or _TEMPORARY_NAME.fullmatch(name) is not None
    )

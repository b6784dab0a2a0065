"""The files of a store, opened without being read."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DataFormatError
from labeltree.model_file.directory import open_inside

from .array_names import DOCUMENT_NAME, PROGRESS_NAME, REPLACEMENT_NAME, file_name, stored_type
from .document import MAX_DOCUMENT_BYTES

#: A directory with one of these is a store, complete or not.
_SIGNS = (DOCUMENT_NAME, PROGRESS_NAME, REPLACEMENT_NAME)


@contextmanager
def blaming_store(path: Path) -> Iterator[None]:
    """Turn a `ValueError` inside into a `DataFormatError` that names the store."""
    try:
        yield
    except DataFormatError:
        raise
    except ValueError as error:
        raise DataFormatError(str(error), str(path)) from error


def is_store(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a directory that has a store, complete or not."""
    return any(os.path.lexists(os.path.join(path, name)) for name in _SIGNS)


def read_document(path: Path) -> bytes:
    """Return the bytes of ``store.json``; raise `ValueError` if there is no complete store."""
    if not path.is_dir():
        what = "this is a file, and a store is a directory" if path.exists() else "there is no such directory"
        raise ValueError(what)
    try:
        with open_inside(path, DOCUMENT_NAME) as file:
            text = file.read(MAX_DOCUMENT_BYTES + 1)
    except FileNotFoundError:
        if is_store(path):
            raise ValueError(
                "the store is not complete: run the command that writes it again to resume, or remove the directory"
            ) from None
        raise ValueError(
            f"there is no {DOCUMENT_NAME} in this directory: it is not a store. Make one with 'labeltree data import'"
        ) from None
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ValueError(
            f"{DOCUMENT_NAME} has more than {MAX_DOCUMENT_BYTES} bytes, more than any store needs"
        )
    return text


def map_array(path: Path, name: str, n_items: int) -> NDArray[Any]:
    """Map an array of a store; raise `ValueError` if its file is missing or has another size."""
    file, expected = file_name(name), n_items * stored_type(name).itemsize
    again = "copy it again, or import the data again"
    try:
        with open_inside(path, file) as opened:
            found = os.fstat(opened.fileno()).st_size
            if found != expected:
                raise ValueError(f"expected {expected:,} bytes, got {found:,}: {again}")
            if n_items == 0:  # an empty file cannot be mapped
                return np.empty(0, dtype=stored_type(name))
            mapped = np.memmap(opened, dtype=stored_type(name), mode="r", shape=(n_items,))
    except FileNotFoundError:
        raise ValueError(f"{file} is missing: {again}") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise OSError(
            error.errno, f"{file} has {expected:,} bytes, which cannot be mapped: {error.strerror}"
        ) from None
    return mapped.view(np.ndarray)  # a memmap computes slower, and its slices are memmaps too

"""Folders of arrays: one ``.npy`` file for each array, written piece by piece and mapped without being read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

#: Room for the header of a file, which tells the size of an array and is written when that is known.
_HEADER_BYTES = 128
#: Zeros are written in pieces of this size.
_PIECE_BYTES = 1 << 20


class ArrayWriter:
    """Appends pieces to the 1-d arrays of a folder. The files appear when the writer is closed without an error.

    Files are replaced, never changed: a model that maps the old ones keeps them.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    offsets : tuple of str
        Arrays of offsets: each piece begins with 0, and is made to follow the piece before.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ArrayWriter(Path(folder), offsets=("begin",)) as writer:
    ...         writer.append({"begin": np.array([0, 2, 5]), "value": np.arange(5)})
    ...         writer.append({"begin": np.array([0, 1]), "value": np.arange(1)})
    ...     {name: array.tolist() for name, array in map_arrays(Path(folder)).items()}
    {'begin': [0, 2, 5, 6], 'value': [0, 1, 2, 3, 4, 0]}
    """

    def __init__(self, folder: Path, offsets: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._end: dict[str, Any] = dict.fromkeys(offsets)
        self._files: dict[str, _GrowingFile] = {}

    def __enter__(self) -> ArrayWriter:
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in self.folder.glob(".*.tmp"):  # of a process that was killed
            path.unlink(missing_ok=True)
        return self

    def append(self, arrays: Arrays) -> None:
        """Append a piece to each array; the first call tells their names and types."""
        if not self._files:
            for name, array in arrays.items():
                self._files[name] = _GrowingFile(self.folder, name, array.dtype)
        for name, file in self._files.items():
            file.append(self._following(name, arrays[name]))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for file in self._files.values() if kind is None else ():
                file.finish()
        finally:
            for file in self._files.values():
                file.discard()

    def _following(self, name: str, piece: NDArray[Any]) -> NDArray[Any]:
        if name not in self._end:
            return piece
        end = self._end[name]
        self._end[name] = piece[-1] if end is None else end + piece[-1]
        return piece if end is None else piece[1:] + end


class _GrowingFile:
    """A ``.npy`` file under a temporary name."""

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any]) -> None:
        self._path, self._temporary = folder / f"{name}.npy", folder / f".{name}.{secrets.token_hex(4)}.tmp"
        self._dtype, self._size = dtype, 0
        self._file: BinaryIO = self._temporary.open("xb")
        self._file.write(bytes(_HEADER_BYTES))

    def append(self, piece: NDArray[Any]) -> None:
        if piece.dtype != self._dtype:
            raise ValueError(
                f"{self._path.name}: all pieces must be of type {self._dtype}, got one of {piece.dtype}"
            )
        self._file.write(np.ascontiguousarray(piece).view(np.uint8).data)
        self._size += len(piece)

    def finish(self) -> None:
        head = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._size,)}
        # Version 1.0 of the format: a magic string, the length of the text, and the text, which ends with a newline.
        text = repr(head).encode().ljust(_HEADER_BYTES - 11) + b"\n"
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
        self._file.close()
        os.replace(self._temporary, self._path)

    def discard(self) -> None:
        self._file.close()
        self._temporary.unlink(missing_ok=True)


def write_arrays(folder: Path, arrays: Arrays) -> Arrays:
    """Write 1-d arrays; return them mapped."""
    with ArrayWriter(folder) as writer:
        writer.append(arrays)
    return {name: map_array(folder / f"{name}.npy") for name in arrays}


def new_array(folder: Path | None, name: str, n_items: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Return a new array of zeros, to be written in any order: mapped if there is a folder, or else in memory.

    Its room on the disk is reserved: writing to a mapped page that the disk has no room for would kill the process.
    A file that is there is replaced, not changed: a model may map it.
    """
    if folder is None:
        return np.zeros(n_items, dtype)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.npy"
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        head = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (n_items,)}
        np.lib.format.write_array_header_1_0(file, head)
        missing = n_items * np.dtype(dtype).itemsize
        if hasattr(os, "posix_fallocate"):
            file.flush()
            os.posix_fallocate(file.fileno(), 0, file.tell() + missing)
        else:
            for _ in range(missing // _PIECE_BYTES):
                file.write(bytes(_PIECE_BYTES))
            file.write(bytes(missing % _PIECE_BYTES))
    array: NDArray[Any] = np.load(path, mmap_mode="r+", allow_pickle=False)
    return array


def map_arrays(folder: Path) -> Arrays:
    """Map all arrays of a folder, in the order of their names."""
    return {path.stem: map_array(path) for path in sorted(folder.glob("*.npy"))}


def map_array(path: Path) -> NDArray[Any]:
    """Map an array."""
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array

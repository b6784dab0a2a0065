"""`ArrayFile`: one array of a store while it is written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .array_names import file_name, stored_type
from .document import StoredArray

_BLOCK_BYTES = 1 << 22


class ArrayFile:
    """A file that grows at its end, and the checksum of what is in it.

    Parameters
    ----------
    directory : path of the store
    name : str
        The name of the array.
    n_items : int
        The number of items to keep of an existing file; what follows them is cut off.

    Raises
    ------
    ValueError
        If the file has fewer items.
    """

    def __init__(self, directory: Path, name: str, n_items: int = 0) -> None:
        self.path, self._type = directory / file_name(name), stored_type(name)
        self.n_items = n_items
        self._hash = hashlib.sha256()
        self._is_synced = False
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        self._file = os.fdopen(os.open(self.path, flags, 0o666), "r+b", buffering=0)
        try:
            self._keep(n_items * self._type.itemsize)
        except BaseException:
            self.close()
            raise

    def append(self, values: ArrayLike) -> None:
        """Write values behind those that are there."""
        items = np.ascontiguousarray(values, dtype=self._type)
        if len(items) == 0:  # an empty view cannot be cast
            return
        content = items.data.cast("B")
        self._hash.update(content)
        self._is_synced = False
        while content:  # a write may end early
            content = content[self._file.write(content) :]
        self.n_items += len(items)

    def sync(self) -> None:
        """Let what was written survive a crash of the machine."""
        if not self._is_synced:
            os.fsync(self._file.fileno())
        self._is_synced = True

    def close(self) -> None:
        self._file.close()

    @property
    def n_bytes(self) -> int:
        return self.n_items * self._type.itemsize

    def stored(self) -> StoredArray:
        """Return the size and the checksum."""
        return StoredArray(self.n_items, self._hash.hexdigest())

    def _keep(self, n_bytes: int) -> None:
        """Cut the file after `n_bytes`, and read them for the checksum."""
        found = os.fstat(self._file.fileno()).st_size
        if found < n_bytes:
            raise ValueError(f"expected {n_bytes:,} bytes in {self.path.name}, got {found:,}")
        self._file.truncate(n_bytes)
        left: Any = n_bytes
        while left and (content := self._file.read(min(left, _BLOCK_BYTES))):
            self._hash.update(content)
            left -= len(content)
        self._file.seek(n_bytes)

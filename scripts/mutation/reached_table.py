"""The table of places that a test reached: a file that all processes of the test write to."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

SLOTS = 1 << 17  # as in native/mutation.cpp


class ReachedTable:
    """Identities of mutants, in a hash table that lies in a file."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SLOTS * 8)

    @staticmethod
    def create(path: Path) -> None:
        path.write_bytes(bytes(SLOTS * 8))

    def note(self, identity: int) -> bool:
        slot = identity % SLOTS
        while True:
            (there,) = struct.unpack_from("=Q", self._map, 8 * slot)
            if there == identity:
                return False
            if there == 0:
                struct.pack_into("=Q", self._map, 8 * slot, identity)
                return False
            slot = (slot + 1) % SLOTS

    def take(self) -> set[int]:
        """Return all identities, and forget them."""
        table = memoryview(self._map).cast("Q")
        found = {identity for identity in table.tolist() if identity}
        table.release()
        self._map[:] = bytes(SLOTS * 8)
        return found

"""Arrays that the tasks of a training share: held by the process, or files that every worker maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from labeltree.engines import Place
from labeltree.training.array_folder import Arrays, map_arrays


class SharedArrays(Protocol):
    """A handle of arrays, as an argument of tasks."""

    def open(self) -> Arrays:
        """Return the arrays, wherever this runs."""


@dataclass(frozen=True, eq=False)
class HeldArrays:
    """Arrays of this process, for tasks that run in it."""

    arrays: Arrays

    def open(self) -> Arrays:
        return self.arrays


@dataclass(frozen=True)
class FiledArrays:
    """The arrays of a folder, which every worker maps."""

    place: Place

    def open(self) -> Arrays:
        return map_arrays(self.place.path())

"""`SharedRows`: rows of a store as an argument of tasks. The store is published, and each worker opens it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labeltree.engines.in_process import InProcess
from labeltree.engines.protocol import Engine, Place
from labeltree.mapped_rows import MappedRows

if TYPE_CHECKING:
    from labeltree.data.store import Store


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Rows of a store that tasks open.

    Attributes
    ----------
    place : Place
        The directory of the store.
    rows : sequence of int, optional
        The numbers of the rows; None for all.
    """

    place: Place
    rows: Sequence[int] | None = None

    def between(self, begin: int, end: int) -> SharedRows:
        """Return the rows from position `begin` to `end`."""
        return replace(self, rows=range(begin, end) if self.rows is None else self.rows[begin:end])

    def open(self) -> MappedRows:
        """Return the rows, wherever this runs."""
        store = opened_store(self.place)
        return store if self.rows is None else store.take(np.asarray(self.rows))


def share_rows(X: Any, engine: Engine) -> Any:
    """Return a handle of X for tasks if it is a store or some of its rows, and X otherwise.

    Without it, every task would open and check the whole store, at a path that its machine may not have.
    """
    if not isinstance(X, MappedRows) or isinstance(engine, InProcess):
        return X
    return SharedRows(publish_store(X, engine), getattr(X, "rows", None))


def publish_store(X: MappedRows, engine: Engine) -> Place:
    """Publish the directory of a store; raise `DataFormatError` if the store was replaced since it was opened."""
    place = engine.publish(X.directory)
    X.check_unchanged()  # later changes are found by tasks
    return place


def opened_rows(X: Any) -> Any:
    """Return the rows of a handle, and anything else as it is."""
    return X.open() if isinstance(X, SharedRows) else X


def opened_store(place: Place) -> Store:
    """Return the store at a place, again the same one for later tasks of this process."""
    return _opened(place, place.path())


@lru_cache(maxsize=2)
def _opened(place: Place, path: Path) -> Store:
    from labeltree.data.store import Store

    return Store(path)

"""`ImportedRows`: some rows of a file, and where they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class ImportedRows(NamedTuple):
    """Rows as `StoreWriter.append` takes them.

    `place` is where they end: with it, an import that was interrupted finds the next row. `n_bytes` is how far the file
    was read, for progress bars.
    """

    X: Any
    y: Any
    place: Mapping[str, Any]
    n_bytes: int

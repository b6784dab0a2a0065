"""Stores: rows and labels as arrays on disk, mapped into memory and not read; docs/stores.md has the format."""

from .importing import import_files
from .store import Store
from .writer import StoreWriter

__all__ = ["Store", "StoreWriter", "import_files"]

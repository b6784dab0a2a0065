"""Readers and writers of data files: sparse matrices and texts, with labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labeltree.errors import DataFormatError

from .libsvm import read_libsvm, write_libsvm
from .stream import ExampleStream, read_stream
from .texts import Texts, read_texts
from .word_vector_file import WordVectors, read_word_vectors, write_word_vectors
from .words import word_counts
from .xmlc import read_xmlc, write_xmlc

if TYPE_CHECKING:
    from .store import Store, StoreWriter, import_files

__all__ = [
    "DataFormatError",
    "ExampleStream",
    "Store",
    "StoreWriter",
    "Texts",
    "WordVectors",
    "import_files",
    "read_libsvm",
    "read_stream",
    "read_texts",
    "read_word_vectors",
    "read_xmlc",
    "word_counts",
    "write_libsvm",
    "write_word_vectors",
    "write_xmlc",
]

_OF_STORES = ("Store", "StoreWriter", "import_files")


def __getattr__(name: str) -> Any:
    # Imported when first used: stores need most of the library, which needs readers.
    if name in _OF_STORES:
        return getattr(import_module("labeltree.data.store"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

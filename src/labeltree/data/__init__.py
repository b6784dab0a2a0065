"""Reading and writing data: sparse matrices and texts, with their labels."""

from labeltree.errors import DataFormatError

from .fasttext import read_fasttext
from .jsonl import read_jsonl
from .libsvm import read_libsvm, write_libsvm
from .xmlc import read_xmlc, write_xmlc

__all__ = [
    "DataFormatError",
    "read_fasttext",
    "read_jsonl",
    "read_libsvm",
    "read_xmlc",
    "write_libsvm",
    "write_xmlc",
]

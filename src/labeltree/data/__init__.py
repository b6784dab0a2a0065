"""Reading and writing data: sparse matrices and texts, with their labels."""

from labeltree.errors import DataFormatError

from .fasttext import read_fasttext
from .jsonl import read_jsonl
from .libsvm import read_libsvm, write_libsvm
from .word_vector_file import WordVectors, read_word_vectors, write_word_vectors
from .xmlc import read_xmlc, write_xmlc

__all__ = [
    "DataFormatError",
    "WordVectors",
    "read_fasttext",
    "read_jsonl",
    "read_libsvm",
    "read_word_vectors",
    "read_xmlc",
    "write_libsvm",
    "write_word_vectors",
    "write_xmlc",
]

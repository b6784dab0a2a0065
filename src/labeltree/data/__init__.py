"""Readers and writers of data files: sparse matrices and texts, with labels."""

from labeltree.errors import DataFormatError

from .libsvm import read_libsvm, write_libsvm
from .stream import ExampleStream, read_stream
from .texts import Texts, read_texts
from .word_vector_file import WordVectors, read_word_vectors, write_word_vectors
from .words import word_counts
from .xmlc import read_xmlc, write_xmlc

__all__ = [
    "DataFormatError",
    "ExampleStream",
    "Texts",
    "WordVectors",
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

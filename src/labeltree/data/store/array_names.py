"""The names and types of the arrays of a store."""

from __future__ import annotations

import numpy as np

#: The file that describes a store. It is written last.
DOCUMENT_NAME = "store.json"
#: The file that says how far a store is, until it is complete.
PROGRESS_NAME = "unfinished.json"
#: The directory inside that of a store where a store that replaces it is written.
REPLACEMENT_NAME = ".replacement"

#: The arrays that grow with the rows, and their types.
ROW_ARRAYS = {
    "features.indptr": "int64",
    "features.indices": "int32",
    "features.values": "float32",
    "labels.indptr": "int64",
    "labels.indices": "int32",
}
#: Labels of texts: integers first, then names; both ascend.
LABEL_ARRAYS = {"labels.numbers": "int64", "labels.names": "uint8", "labels.names_begin": "int64"}
#: Readable names of labels, in the order of the labels; empty for a label without one.
TITLE_ARRAYS = {"labels.titles": "uint8", "labels.titles_begin": "int64"}
#: Pairs of a row and the number of a label that do not count in an evaluation.
FILTER_ARRAYS = {"filtered.rows": "int64", "filtered.labels": "int64"}
#: What a vectorizer has learned.
TEXT_ARRAYS = {
    "text.text": "uint8",
    "text.text_begin": "int64",
    "text.char_text": "uint8",
    "text.char_text_begin": "int64",
    "text.idf": "float64",
}

ARRAY_TYPES = ROW_ARRAYS | LABEL_ARRAYS | TITLE_ARRAYS | FILTER_ARRAYS | TEXT_ARRAYS


def file_name(array: str) -> str:
    """Return the name of the file of an array."""
    return f"{array}.bin"


def stored_type(array: str) -> np.dtype:
    """Return the type of an array in its file: little-endian."""
    return np.dtype(ARRAY_TYPES[array]).newbyteorder("<")

"""Parsers for blocks of lines, one per format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from .columns import Columns, names_of
from .compression import uncompressed_name
from .fasttext import split_words
from .jsonl import features_of, parse_object
from .labelled_rows import RowReader
from .lines import LineError, decode_line
from .words import counted, word_counts

StreamFormat: TypeAlias = Literal["jsonl", "xmlc", "libsvm", "fasttext"]

_ONLY_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))*")

#: Features of a row by name: a number, or a text that becomes a feature of its own.
NamedRow: TypeAlias = Mapping[str, float | str]


class Batch(NamedTuple):
    """Some examples: a CSR matrix, a list of named features or a list of texts, and a list of labels for each."""

    X: csr_matrix | list[NamedRow] | list[str]
    y: list[list[Any]]


class Block(NamedTuple):
    """The examples of a block of lines, as in `Batch`, and the id of each, or None."""

    X: csr_matrix | list[NamedRow] | list[str]
    y: list[list[Any]]
    ids: list[Any]


#: Parses whole lines into a block, or None if they have no example; raises `LineError` for the first wrong line.
BlockParser: TypeAlias = Callable[[bytes], Block | None]


def format_of(name: str, first_block: bytes, label_prefix: str) -> StreamFormat:
    """Detect the format of a source from its name or else from its first line; the default is XMLC."""
    plain = uncompressed_name(name)
    if plain.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    if plain.endswith((".svm", ".libsvm")):
        return "libsvm"
    first_line = first_block.lstrip(b" \t\r\n").partition(b"\n")[0]
    if first_line.startswith(b"{"):
        return "jsonl"
    return "fasttext" if label_prefix.encode() in first_line else "xmlc"


def parse_numbered_rows(block: bytes, rows: RowReader) -> Block | None:
    """Parse lines of ``label,label feature:value``."""
    if rows.comments and _ONLY_COMMENTS.fullmatch(block):
        return None
    X, y = rows.parse(np.frombuffer(block, dtype=np.uint8))
    if X.shape[1] == 0:  # learners expect at least one column
        X.resize(X.shape[0], 1)
    labels, ends = y.indices.tolist(), y.indptr.tolist()
    return Block(X, [labels[begin:end] for begin, end in pairwise(ends)], [None] * X.shape[0])


def parse_named_rows(
    block: bytes, parse_line: Callable[[str], tuple[NamedRow | str, list[Any], str | int | None] | None]
) -> Block | None:
    """Parse lines one by one; `parse_line` returns features, labels and id, or None for a line without an example."""
    examples = []
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            example = parse_line(decode_line(line))
        except LineError as error:
            raise LineError(error.reason, number) from None
        if example is not None:
            examples.append(example)
    if not examples:
        return None
    rows, labels, ids = map(list, zip(*examples, strict=True))
    return Block(rows, labels, ids)


def parse_json_features(line: str, columns: Columns) -> tuple[NamedRow, list[Any], str | int | None] | None:
    """Parse features, or a text as word counts, labels and id; return None for a blank line."""
    record = parse_object(line)
    if record is None:
        return None
    has_text = any(name in record for name in columns.text)
    if "features" in record and has_text:
        raise LineError("expected either 'features' or 'text', got both")
    if "features" in record:
        row: NamedRow = features_of(record, "features")
    elif has_text:
        row = word_counts(columns.text_of(record))
    else:
        raise LineError(
            f"expected an object with the key 'features' or {columns.text[0]!r}, got {names_of(record)}"
        )
    return row, columns.labels_of(record), columns.id_of(record)


def parse_fasttext_words(line: str, label_prefix: str) -> tuple[NamedRow, list[str], None]:
    """Parse words, as they are written, into counts, and labels."""
    words, labels = split_words(line, label_prefix)
    return counted(words), labels, None


def parse_fasttext_text(line: str, label_prefix: str) -> tuple[str, list[str], None]:
    """Parse words, joined into a text, and labels."""
    words, labels = split_words(line, label_prefix)
    return " ".join(words), labels, None

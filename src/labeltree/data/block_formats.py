"""Parsers for blocks of lines, one per format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from .compression import uncompressed_name
from .fasttext import split_words
from .jsonl import features_of, keys_of, labels_of, parse_object, text_of
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


#: Parses whole lines into a batch, or None if they have no example; raises `LineError` for the first wrong line.
BlockParser: TypeAlias = Callable[[bytes], Batch | None]


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


def parse_numbered_rows(block: bytes, rows: RowReader) -> Batch | None:
    """Parse lines of ``label,label feature:value``."""
    if rows.comments and _ONLY_COMMENTS.fullmatch(block):
        return None
    X, y = rows.parse(np.frombuffer(block, dtype=np.uint8))
    if X.shape[1] == 0:  # learners expect at least one column
        X.resize(X.shape[0], 1)
    labels, ends = y.indices.tolist(), y.indptr.tolist()
    return Batch(X, [labels[begin:end] for begin, end in pairwise(ends)])


def parse_named_rows(
    block: bytes, parse_line: Callable[[str], tuple[NamedRow | str, list[str]] | None]
) -> Batch | None:
    """Parse lines one by one; `parse_line` returns features and labels, or None for a line without an example."""
    rows: list[Any] = []
    labels: list[list[Any]] = []
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=1):
        try:
            example = parse_line(decode_line(line))
        except LineError as error:
            raise LineError(error.reason, number) from None
        if example is not None:
            rows.append(example[0])
            labels.append(example[1])
    return Batch(rows, labels) if rows else None


def parse_json_features(line: str, labels: str | None) -> tuple[NamedRow, list[str]] | None:
    """Parse features, or a text as word counts, and the labels, if wanted; return None for a blank line."""
    record = parse_object(line)
    if record is None:
        return None
    if "features" in record and "text" in record:
        raise LineError("expected either 'features' or 'text', got both")
    if "features" in record:
        return features_of(record, "features"), labels_of(record, labels)
    if "text" in record:
        return word_counts(text_of(record, "text")), labels_of(record, labels)
    raise LineError(f"expected an object with the key 'features' or 'text', got {keys_of(record)}")


def parse_fasttext_words(line: str, label_prefix: str) -> tuple[NamedRow, list[str]]:
    """Parse words, as they are written, into counts, and labels."""
    words, labels = split_words(line, label_prefix)
    return counted(words), labels

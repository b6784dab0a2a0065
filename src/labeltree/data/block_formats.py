"""What a block of lines holds, format by format: examples with numbered or with named features."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from labeltree._native import HeaderRule

from .fasttext import split_words
from .json_record import features_of, labels_of, parse_object, text_of
from .labelled_rows import parse_labelled_rows
from .lines import LineError, decode_line
from .words import counted, word_counts

StreamFormat: TypeAlias = Literal["jsonl", "xmlc", "libsvm", "fasttext"]

_ONLY_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))*")

#: By the end of a file's name, less that of its compression.
_ENDINGS: dict[str, StreamFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
}


#: What a row has, by name: a number, or a text that makes a feature of its own.
NamedRow: TypeAlias = Mapping[str, float | str]


class Batch(NamedTuple):
    """Some examples: features X, a CSR matrix of numbered or a list of named ones, and a list of labels for each.

    Of a stream of whole texts, X is a list of these.
    """

    X: csr_matrix | list[NamedRow] | list[str]
    y: list[list[Any]]


#: Makes a batch of whole lines, None if they hold no example; `LineError` for the first line that is not right.
BlockParser: TypeAlias = Callable[[bytes], Batch | None]


def format_of(name: str, first_block: bytes, label_prefix: str) -> StreamFormat:
    """The format that the name of a source or, failing that, its first line tells; XMLC if neither does."""
    plain = re.sub(r"\.(gz|xz|zst)$", "", name.lower())
    for ending, format in _ENDINGS.items():
        if plain.endswith(ending):
            return format
    first_line = first_block.lstrip(b" \t\r\n").partition(b"\n")[0]
    if first_line.startswith(b"{"):
        return "jsonl"
    return "fasttext" if label_prefix.encode() in first_line else "xmlc"


@dataclass(frozen=True)
class NumberedRows:
    """Parses lines of ``label,label feature:value``."""

    first_feature: int
    first_label: int
    comments: bool
    n_threads: int

    def __call__(self, block: bytes) -> Batch | None:
        if self.comments and _ONLY_COMMENTS.fullmatch(block):
            return None
        X, y = parse_labelled_rows(
            np.frombuffer(block, dtype=np.uint8),
            header=HeaderRule.ABSENT,
            first_feature=self.first_feature,
            first_label=self.first_label,
            comments=self.comments,
            n_threads=self.n_threads,
        )
        if X.shape[1] == 0:  # rows without any feature; what learns from them wants a column all the same
            X.resize(X.shape[0], 1)
        labels, ends = y.indices.tolist(), y.indptr.tolist()
        return Batch(X, [labels[begin:end] for begin, end in pairwise(ends)])


@dataclass(frozen=True)
class NamedFeatures:
    """Parses lines one by one; `parse_line` gives features and labels, or None for a line that is no example."""

    parse_line: Callable[[str], tuple[NamedRow | str, list[str]] | None]

    def __call__(self, block: bytes) -> Batch | None:
        batch: Any = Batch([], [])
        for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), start=1):
            try:
                example = self.parse_line(decode_line(line))
            except LineError as error:
                raise LineError(error.reason, number) from None
            if example is not None:
                batch.X.append(example[0])
                batch.y.append(example[1])
        return batch if batch.y else None


def json_line(line: str, labelled: bool) -> tuple[NamedRow, list[str]] | None:
    """Features, or counts of the words of a text, and labels, if wanted; None for a blank line."""
    if not line.strip(" \t"):
        return None
    record = parse_object(line)
    if "features" in record and "text" in record:
        raise LineError("expected either 'features' or 'text', got both")
    if "features" not in record and "text" not in record:
        keys = ", ".join(map(repr, list(record)[:10])) or "none"
        raise LineError(f"expected an object with the key 'features' or 'text', got the keys {keys}")
    features = (
        features_of(record, "features") if "features" in record else word_counts(text_of(record, "text"))
    )
    return features, labels_of(record, "labels") if labelled else []


def json_text_line(line: str, labelled: bool) -> tuple[str, list[str]] | None:
    """A text and its labels, if wanted; None for a blank line."""
    if not line.strip(" \t"):
        return None
    record = parse_object(line)
    return text_of(record, "text"), labels_of(record, "labels") if labelled else []


def fasttext_line(line: str, label_prefix: str) -> tuple[NamedRow, list[str]]:
    """Counts of words, as they are written, and labels."""
    words, labels = split_words(line, label_prefix)
    return counted(words), labels

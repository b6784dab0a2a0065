"""Examples as readers give them: rows of features or texts, with labels and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from labeltree import sparse as sp

from .columns import Columns
from .lines import LineError, decode_line
from .words import word_counts

#: Features of a row by name: a number, or a text that becomes a feature of its own.
NamedRow: TypeAlias = Mapping[str, float | str]

#: The rows of several examples; a text is a string, or a mapping of fields to strings.
Rows: TypeAlias = "sp.csr_matrix | list[NamedRow] | list[Any]"

#: A row, its labels, and its id or None.
Example: TypeAlias = tuple[Any, list[Any], Any]


class Batch(NamedTuple):
    """Some examples: a CSR matrix, a list of named features or a list of texts, and a list of labels for each."""

    X: Rows
    y: list[list[Any]]


class Block(NamedTuple):
    """Examples as a reader gives them, with their ids, and the number of lines read so far."""

    X: Rows
    y: list[list[Any]]
    ids: list[Any]
    n_lines: int


#: What a reader yields: examples and, between them, the errors of wrong lines.
Parsed: TypeAlias = Iterator[Block | LineError]


def block_of(examples: list[Example], n_lines: int) -> Block:
    """Return examples as a block."""
    X, y, ids = map(list, zip(*examples, strict=True)) if examples else ([], [], [])
    return Block(X, y, ids, n_lines)


def read_lines_as_examples(blocks: Iterable[bytes], parse_line: Callable[[str], Example | None]) -> Parsed:
    """Parse lines one by one; `parse_line` returns None for a line without an example."""
    number = 0
    for block in blocks:
        examples: list[Example] = []
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            try:
                example = parse_line(decode_line(line))
            except LineError as error:
                if examples:
                    yield block_of(examples, number - 1)
                    examples = []
                yield LineError(error.reason, number)
                continue
            if example is not None:
                examples.append(example)
        yield block_of(examples, number)


def text_example(record: Mapping[str, Any], columns: Columns) -> Example:
    """Return the text, the labels and the id of a record."""
    return columns.text_of(record), columns.labels_of(record), columns.id_of(record)


def words_example(record: Mapping[str, Any], columns: Columns) -> Example:
    """Return the word counts of the text, the labels and the id of a record."""
    return word_counts(columns.text_of(record)), columns.labels_of(record), columns.id_of(record)

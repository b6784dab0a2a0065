"""Writing texts with labels: JSON lines, CSV, TSV and fastText lines."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable
from typing import Any

from .atomic_file import open_atomic
from .examples import Example
from .fasttext import LABEL_PREFIX

#: Separates labels in a column of CSV and TSV files.
SEPARATOR = ";"


def write_texts(path: str | os.PathLike[str], format: str, examples: Iterable[Example]) -> int:
    """Write texts with labels and ids atomically, and return their number.

    Columns are ``id``, if the first example has one, ``text`` and ``labels``. Raises `ValueError` for a label that the
    format cannot hold.
    """
    n_rows = 0
    with open_atomic(path) as file:
        for text, labels, identifier in examples:
            columns = {} if identifier is None else {"id": identifier}
            columns |= {"text": text, "labels": labels}
            if n_rows == 0 and format in ("csv", "tsv"):
                file.write(_table_line(list(columns), format))
            file.write(TEXT_WRITERS[format](columns))
            n_rows += 1
    return n_rows


def _json_line(columns: dict[str, Any]) -> bytes:
    return json.dumps(columns, ensure_ascii=False).encode() + b"\n"


def _fasttext_line(columns: dict[str, Any]) -> bytes:
    words = columns["text"].split()
    for label in columns["labels"]:
        if len(str(label).split()) != 1:
            raise ValueError(f"expected labels without blanks for fastText lines, got {label!r}")
    for word in words:
        if word.startswith(LABEL_PREFIX):
            raise ValueError(f"expected words without {LABEL_PREFIX!r} for fastText lines, got {word!r}")
    return " ".join([*(f"{LABEL_PREFIX}{label}" for label in columns["labels"]), *words]).encode() + b"\n"


def _table_row(format: str) -> Callable[[dict[str, Any]], bytes]:
    def line(columns: dict[str, Any]) -> bytes:
        for label in columns["labels"]:
            if SEPARATOR in str(label):
                raise ValueError(
                    f"expected labels without {SEPARATOR!r}, which separates them, got {label!r}"
                )
            if str(label).strip() != str(label) or label == "":
                raise ValueError(f"expected labels without blanks around them, got {label!r}")
        joined = {**columns, "labels": SEPARATOR.join(map(str, columns["labels"]))}
        return _table_line(list(joined.values()), format)

    return line


def _table_line(fields: list[Any], format: str) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t" if format == "tsv" else ",", lineterminator="\n").writerow(fields)
    return text.getvalue().encode()


#: How each format writes the columns of an example.
TEXT_WRITERS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "jsonl": _json_line,
    "csv": _table_row("csv"),
    "tsv": _table_row("tsv"),
    "fasttext": _fasttext_line,
}

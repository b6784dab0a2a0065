"""Formats of data files, and how they are recognised."""

from __future__ import annotations

import csv
import re
from typing import Literal, TypeAlias, get_args

from .arrow import ARROW_MAGIC, PARQUET_MAGIC
from .columns import Columns
from .compression import uncompressed_name
from .delimited import delimiter_of
from .lines import LineError

DataFormat: TypeAlias = Literal["jsonl", "csv", "tsv", "parquet", "arrow", "fasttext", "xmlc", "libsvm"]

FORMATS: tuple[DataFormat, ...] = get_args(DataFormat)
#: Formats with columns that are chosen by name.
COLUMN_FORMATS = ("jsonl", "csv", "tsv", "parquet", "arrow")
#: Formats of rows of numbers; all others have texts or named features.
NUMBER_FORMATS = ("xmlc", "libsvm")

_SUFFIXES: dict[str, DataFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
}

_UNDERSTOOD = (
    'JSON lines ({"text": "A boat", "labels": ["sea"]}), CSV and TSV with a header, Parquet, Arrow, fastText lines '
    "(__label__sea A boat), and rows of numbers as in the extreme classification repository (0,2 1:0.5 3:1) or libsvm"
)

#: Compressed data begin with these bytes, whatever their name says.
_COMPRESSED = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"\xfd7zXZ\0": ("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstd", ".zst"),
}

#: Labels and then pairs 'feature:value', also with mistakes, which the reader describes better.
_NUMBERS = re.compile(rb"(?:[-+\d,]+|\d+:\S*)?(?:[ \t]+[-+]?\d+(?::\S*)?)*[ \t]*(?:#.*)?")


def format_of_name(name: str) -> DataFormat | None:
    """Return the format that a file name ends in."""
    plain = uncompressed_name(name)
    return next((format for suffix, format in _SUFFIXES.items() if plain.endswith(suffix)), None)


def format_of_content(head: bytes, columns: Columns, label_prefix: str) -> DataFormat:
    """Return the format of a file that begins with these lines; raise `LineError` if it is none.

    A file without any word is taken for rows of numbers, without labels and features.
    """
    if head.startswith(PARQUET_MAGIC):
        return "parquet"
    if head.startswith(ARROW_MAGIC):
        return "arrow"
    for magic, (program, suffix) in _COMPRESSED.items():
        if head.startswith(magic):
            raise LineError(
                f"the data are compressed, but only files with a name ending in {suffix} are decompressed: rename the "
                f"file, or decompress standard input with {program} -dc",
                1,
            )
    blanks = head[: len(head) - len(head.lstrip())]
    line = head[len(blanks) :].partition(b"\n")[0].removesuffix(b"\r")
    if line.startswith(b"{"):
        return "jsonl"
    if label_prefix.encode() in line:
        return "fasttext"
    if _NUMBERS.fullmatch(line):
        return "xmlc"
    text = line.decode(errors="replace")
    for format, delimiter in (("tsv", "\t"), ("csv", delimiter_of(line))):
        if not set(columns.text).isdisjoint(_names(text, delimiter)):
            return format  # type: ignore[return-value]
    raise LineError(_not_understood(text, columns), 1 + blanks.count(b"\n"))


def _names(header: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:  # such as a carriage return within the line
        return []


def _not_understood(line: str, columns: Columns) -> str:
    shown = ascii(line[:60])[1:-1] + ("…" if len(line) > 60 else "")
    hint = ""
    if line.startswith("["):
        hint = ". Make JSON lines of a JSON array with: jq -c '.[]' FILE"
    elif "," in line or "\t" in line:
        names = ", ".join(map(repr, columns.text))
        hint = f". If this is the header of a table, choose the column of the text with --text; now it is {names}"
    return f"the first line is '{shown}', but expected {_UNDERSTOOD}{hint}"

"""Concepts from a CSV or tab-separated table with a concept per row."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator

from labeltree.data.compression import uncompressed_name
from labeltree.data.sources import read_lines, source_name
from labeltree.errors import DataFormatError
from labeltree.trees.concept_forest import text_of


def read_concept_table(path: str | os.PathLike[str]) -> list[tuple[str, str, str, int]]:
    """Return the id, the parent, the name and the line of each concept in a file; see ``Taxonomy.from_csv``."""
    concepts = []
    rows = table_rows(path)
    header_line, header = next(rows, (1, []))
    columns = {text_of(column).lower(): i for i, column in reversed(list(enumerate(header)))}
    if not {"id", "parent"} <= columns.keys():
        raise DataFormatError(
            f"expected a first line that names the columns, 'id', 'parent' and 'name' among them, got "
            f"{', '.join(map(repr, header)) or 'an empty file'}",
            source_name(path),
            header_line,
        )
    name_column = "name" if "name" in columns else "id"
    for line, row in rows:
        if len(row) != len(header):
            raise DataFormatError(
                f"expected {len(header)} fields, one for each column, got {len(row)}",
                source_name(path),
                line,
            )
        identifier, parent, name = (text_of(row[columns[column]]) for column in ("id", "parent", name_column))
        concepts.append((identifier, parent, name or identifier, line))
    if not concepts:
        raise DataFormatError("expected at least one concept below the first line", source_name(path))
    return concepts


def is_table(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a table, by its name."""
    return uncompressed_name(os.fspath(path)).endswith((".csv", ".tsv"))


def is_tab_separated(path: str | os.PathLike[str]) -> bool:
    """Return whether the columns of a table are separated by tabs, by its name."""
    return uncompressed_name(os.fspath(path)).endswith(".tsv")


def table_rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each after the number of its first line."""
    lines = (f"{line}\n" for _, line in read_lines(path))
    if is_tab_separated(path):
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        reader = csv.reader(lines, strict=True)
    while True:
        begin = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataFormatError(f"this is not CSV: {error}", source_name(path), begin) from None
        if any(row):
            yield begin, row

"""Concepts from a table: CSV or tab-separated, one per row."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from labeltree.data.sources import read_lines, source_name
from labeltree.errors import DataFormatError
from labeltree.trees.concept_forest import text_of


class ConceptTable(NamedTuple):
    """The columns of a table, and the line of each row."""

    ids: list[str]
    parents: list[str]
    names: list[str]
    lines: list[int]


def read_concept_table(path: str | os.PathLike[str]) -> ConceptTable:
    """Read the columns ``id``, ``parent`` and ``name`` of a file; see ``Taxonomy.from_csv``."""
    table = ConceptTable([], [], [], [])
    rows = _rows(path)
    header_line, header = next(rows, (1, []))
    columns = {text_of(column).lower(): i for i, column in reversed(list(enumerate(header)))}
    if not {"id", "parent"} <= columns.keys():
        raise DataFormatError(
            f"expected a first line that names the columns, 'id', 'parent' and 'name' among them, got "
            f"{', '.join(map(repr, header)) or 'an empty file'}",
            source_name(path),
            header_line,
        )
    name_column = columns.get("name", columns["id"])
    for line, row in rows:
        if len(row) != len(header):
            raise DataFormatError(
                f"expected {len(header)} fields, as many as there are columns, got {len(row)}",
                source_name(path),
                line,
            )
        table.ids.append(text_of(row[columns["id"]]))
        table.parents.append(text_of(row[columns["parent"]]))
        table.names.append(text_of(row[name_column]) or table.ids[-1])
        table.lines.append(line)
    if not table.ids:
        raise DataFormatError(
            "expected at least one concept below the first line, got none", source_name(path)
        )
    return table


def _rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, and the line where each begins."""
    is_tab_separated = re.search(r"\.tsv(\.(gz|xz|zst))?$", os.fspath(path).lower()) is not None
    lines = (f"{line}\n" for _, line in read_lines(path))
    reader = (
        csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if is_tab_separated
        else csv.reader(lines, strict=True)
    )
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

"""`NameFile`: a file with readable names of labels."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from labeltree.errors import DataFormatError

if TYPE_CHECKING:
    from labeltree.trees import Taxonomy

#: Columns of a table that have labels, and columns that have names; the first that is there is taken.
_LABEL_COLUMNS = ("id", "uri", "code", "notation", "label")
_NAME_COLUMNS = ("name", "label_{language}", "preflabel", "title", "label")


def read_label_names(
    path: str | os.PathLike[str], labels: Iterable[Any], *, language: str = "en"
) -> dict[Any, str]:
    """Read the readable names of labels from a file.

    The ending of the file name sets the format:

    - ``.csv`` and ``.tsv``: a table with a label and its name in each row. If the first line names the columns (``id``,
      ``uri``, ``code``, ``notation`` or ``label``, and ``name``, ``label_en``, ``prefLabel`` or ``title``), they may
      have any order, and other columns are ignored. Otherwise the first column has the label and the second its name.
    - ``.ttl``, ``.rdf``, ``.jsonld``, ``.nt`` and ``.skos``: a SKOS vocabulary. Labels are URIs, their last parts or
      notations, and names are the ``skos:prefLabel``. This needs ``rdflib`` (the extra ``skos``).
    - ``.json`` and ``.jsonl``: a JSON object per line, whose ``title`` is the name of the label 0, 1, 2 and so on, as
      in the ``lbl.json`` of the Extreme Classification Repository.
    - others: the names of the labels 0, 1, 2 and so on, one per line.

    Parameters
    ----------
    path : path of a file
        Tables and lists may be compressed (``.gz``, ``.xz``, ``.zst``).
    labels : iterable
        The labels to look up, such as the `classes_` of a model. They are compared as text: 13 and "13" are the same.
    language : str
        The language of names in a SKOS vocabulary, and of the column ``label_…`` of a table. A concept without a name
        in this language has the name without a language, or in the first language in the alphabet.

    Returns
    -------
    dict
        The names by label. Labels that are not in the file have none.

    Raises
    ------
    DataFormatError
        If the file is not valid.
    ValueError
        If none of the labels is in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labeltree.labels import read_label_names
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "names.csv")
    ...     _ = path.write_text("T1,cats\\nT2,dogs\\nT3,birds\\n")
    ...     read_label_names(path, ["T1", "T3", "T4"])
    {'T1': 'cats', 'T3': 'birds'}
    """
    return NameFile.read(path, language).names_of(labels)


@dataclass(frozen=True)
class NameFile:
    """A file of names that was read: concepts, which know how to find labels, or a list of names."""

    path: str
    concepts: Taxonomy
    is_list: bool = False

    @classmethod
    def read(cls, path: str | os.PathLike[str], language: str = "en") -> NameFile:
        """Read a file; see `read_label_names`."""
        from labeltree.data.compression import uncompressed_name
        from labeltree.data.sources import read_lines
        from labeltree.trees import Taxonomy
        from labeltree.trees.concept_table import is_table
        from labeltree.trees.skos import is_skos

        name = os.fspath(path)
        if is_skos(path):
            return cls(name, Taxonomy.from_skos(path, language=language))
        if is_table(path):
            table = _read_table(path, language)
            return cls(name, Taxonomy(table.keys(), [None] * len(table), table.values()))
        is_json = uncompressed_name(name).endswith((".json", ".jsonl"))
        lines = [line for _, line in read_lines(path, _title if is_json else str)]
        return cls(name, Taxonomy(range(len(lines)), [None] * len(lines), lines), is_list=True)

    def names_of(self, labels: Iterable[Any]) -> dict[Any, str]:
        """Return the names by label; raise `ValueError` if there are none."""
        known = list(labels)
        if self.is_list:
            self._check_length(known)
        names = names_in(self.concepts, known)
        if not names:
            raise ValueError(
                f"{self.path}: none of the labels is here: labels are like {known[0] if known else None!r}, and the "
                f"file has names for labels like {next(iter(self.concepts.ids), None)!r}"
            )
        if all(name == str(label) for label, name in names.items()):
            label = next(iter(names))
            raise ValueError(f"{self.path}: the labels of this model are names already, such as {label!r}")
        return names

    def _check_length(self, labels: list[Any]) -> None:
        """Raise `DataFormatError` if labels are numbers and the list is too short for them."""
        numbers, n_names = np.asarray(labels), len(self.concepts)
        if numbers.dtype.kind in "iu" and numbers.size > 0 and numbers.max() >= n_names:
            raise DataFormatError(
                f"expected {numbers.max() + 1} names of labels, one per line, as the model has labels from "
                f"{numbers.min()} to {numbers.max()}; got {n_names}",
                self.path,
            )


def names_in(concepts: Taxonomy, labels: list[Any]) -> dict[Any, str]:
    """Return the names of the labels that are concepts and have a name."""
    found = zip(labels, concepts.concepts_of(labels).tolist(), strict=True)
    return {label: concepts.names[i] for label, i in found if i >= 0 and concepts.names[i]}


def _title(line: str) -> str:
    """Return the title in a JSON object."""
    from labeltree.data.jsonl import parse_object
    from labeltree.data.lines import LineError

    record = parse_object(line) or {}
    title = record.get("title")
    if not isinstance(title, str):
        raise LineError(f"expected a JSON object with a string as 'title', got {line.strip()[:40]!r}")
    return " ".join(title.split())


def _read_table(path: str | os.PathLike[str], language: str) -> dict[str, str]:
    """Return names by label."""
    from labeltree.data.sources import source_name
    from labeltree.trees.concept_table import is_tab_separated, table_rows

    names: dict[str, str] = {}
    columns: tuple[int, int] | None = None
    for line, row in table_rows(path):
        if columns is None:
            named = _columns_named(row, language)
            columns = named or (0, 1)
            if named:
                continue
        if len(row) <= max(columns):
            separator = "tab" if is_tab_separated(path) else "comma"
            raise DataFormatError(
                f"expected a label and its name, separated by a {separator}, got {row[0]!r}",
                source_name(path),
                line,
            )
        label, name = (" ".join(row[column].split()) for column in columns)
        if label.startswith("<") and label.endswith(">"):  # a URI as in the vocabularies of Annif
            label = label[1:-1]
        if not label:
            raise DataFormatError("the label is empty", source_name(path), line)
        if names.setdefault(label, name) != name:
            raise DataFormatError(
                f"the label {label!r} has a second name, {name!r}, after {names[label]!r}",
                source_name(path),
                line,
            )
    return names


def _columns_named(header: list[str], language: str) -> tuple[int, int] | None:
    """Return the columns of labels and names, if a first line names them."""
    at = {column.strip().lower(): i for i, column in reversed(list(enumerate(header)))}
    named = [column.format(language=language.lower()) for column in _NAME_COLUMNS]
    label = next((at[column] for column in _LABEL_COLUMNS if column in at), None)
    name = next((at[column] for column in named if column in at), None)
    return None if label is None or name is None or label == name else (label, name)

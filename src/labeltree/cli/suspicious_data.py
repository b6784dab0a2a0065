"""Warnings about data that are read without an error, but hardly as they were meant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from labeltree.cli.console import print_warning
from labeltree.cli.data_file import DataFile
from labeltree.wording import shortened

#: A label in a message is cut after this many characters.
_LONG_LABEL = 40


def warn_of_unsplit_labels(source: DataFile, labels: Sequence[Collection[Any]]) -> None:
    """Warn if most rows have a label with a semicolon, a bar or a comma, which probably separates several labels."""
    if (found := unsplit_label(source, labels)) is not None:
        label, separator = found
        print_warning(
            f"{source.path}: labels such as {_shown(label)} are not split. If these are several labels, add "
            f"--separator '{separator}'",
        )


def unsplit_label(source: DataFile, labels: Sequence[Collection[Any]]) -> tuple[str, str] | None:
    """Return a label that probably is several, and their separator.

    Examples
    --------
    >>> unsplit_label(DataFile("books.csv"), [["sea;boat"], ["hill"], ["sea;sun"], []])
    ('sea;boat', ';')
    >>> unsplit_label(DataFile("books.csv"), [["sea"], ["hill"]])
    """
    labelled = [row for row in labels if row]
    if source.separator is None and any(len(row) > 1 for row in labelled):
        return None  # the file has lists of labels
    for separator in (";", "|") if source.separator else (";", "|", ","):
        found = [next((label for label in row if separator in str(label)), None) for row in labelled]
        having = [label for label in found if label is not None]
        if having and 2 * len(having) >= len(labelled):
            return str(having[0]), separator
    return None


def warn_of_unknown_labels(
    model: Any, path: Any, source: DataFile, labels: Sequence[Collection[Any]]
) -> None:
    """Warn if a model knows none of the labels that it should be measured with."""
    first = next((label for row in labels for label in row), None)
    known = set(model.classes_.tolist())
    if first is None or any(label in known for row in labels for label in row):
        return
    found = unsplit_label(source, labels)
    cure = "" if found is None else f". Add --separator '{found[1]}'?"
    own = next(iter(model.classes_.tolist()))
    print_warning(
        f"{path} knows none of the labels of {source.path}, such as {_shown(first)}; the labels of the model are "
        f"such as {_shown(own)}{cure}",
    )


def _shown(label: Any) -> str:
    return repr(shortened(str(label), _LONG_LABEL))

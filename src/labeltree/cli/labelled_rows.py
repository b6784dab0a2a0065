"""Labelled rows to measure a model on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from labeltree import sparse as sp
from labeltree.cli.data_file import DataFile, Rows, reads_whole_texts
from labeltree.cli.label_names import are_ids
from labeltree.cli.suspicious_data import warn_of_unknown_labels


def read_labelled_rows(model: Any, path: Path, source: DataFile) -> Rows:
    """Read rows to measure the model in `path` with.

    y is lists of labels for models of texts and online models, else a matrix with a column for each number up to the
    model's largest label.
    """
    with source.recognised(model.model_.text_fields) as file:
        if model.model_.learns or (reads_whole_texts(model) and not file.has_numbers):
            rows = _examples(model, file)
            warn_of_unknown_labels(model, path, source, rows.y)
        elif not file.has_numbers:
            raise ValueError(
                f"{path} was trained on rows of numbers, but {source.path} has texts ({file.format})"
            )
        elif not are_ids(model.classes_):
            file.read()  # raises for an empty file, which has neither texts nor numbers
            if reads_whole_texts(model):
                raise ValueError(
                    f"{path} was trained on texts, but {source.path} has rows of numbers ({file.format})"
                )
            raise ValueError(
                f"the labels of {path} are names such as {model.classes_.tolist()[0]!r}, but {source.path} has rows "
                "whose labels are numbers from 0; evaluate it in Python with labeltree.metrics"
            )
        else:
            rows = Rows(*file.read_for(model))
    if rows.n_rows == 0:
        raise ValueError(f"{source.path}: expected at least one row to evaluate, got none")
    store = source.store
    if store is None or model.model_.learns or store.n_features != model.n_features_in_:
        return rows
    return replace(rows, store=store)


def _examples(model: Any, source: DataFile) -> Rows:
    """Read all rows for a model of texts or an online model, with lists of their labels, known or not."""
    if source.store is not None and not model.model_.learns:
        return source.stored_rows(model)
    blocks = list(source.blocks_for(model, labelled=True))
    if not blocks:
        return Rows([], [])
    y = [list(dict.fromkeys(labels)) for block in blocks for labels in block.y]
    if model.classes_.dtype.kind in "iu":  # tables and fastText lines have labels that are strings
        y = [[int(label) if str(label).isdecimal() else label for label in labels] for labels in y]
    texts = [text for block in blocks for text in block.texts or ()] or None
    ids = [identifier for block in blocks for identifier in block.ids or ()] or None
    matrices: list[Any] = [block.X for block in blocks]
    if isinstance(matrices[0], list):
        return Rows([row for X in matrices for row in X], y, texts, ids)
    for X in matrices:
        X.resize(X.shape[0], max(X.shape[1] for X in matrices))
    return Rows(sp.vstack(matrices, format="csr"), y, texts, ids)


def label_lists(y: Any) -> list[tuple[Any, ...]]:
    """Return the labels of each row of y, a matrix or lists; tuples, as lists of 0 and 1 would be read as a matrix."""
    rows = y if isinstance(y, list) else y.tolil().rows
    return [tuple(labels) for labels in rows]

"""Data files as commands read them: whole, or block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from scipy.sparse import vstack

from labeltree.cli.label_names import are_ids
from labeltree.cli.options import StreamFormat
from labeltree.data import read_libsvm, read_xmlc
from labeltree.data.block_formats import Batch
from labeltree.data.sources import source_name
from labeltree.data.stream import ExampleStream
from labeltree.errors import DataFormatError
from labeltree.validation import n_threads

BLOCK_BYTES = 1 << 23


def format_of(path: str, format: StreamFormat) -> StreamFormat:
    """Return the format of a file: for ``auto`` by its name."""
    if format != "auto":
        return format
    name = re.sub(r"\.(gz|xz|zst)$", "", path.lower())
    if name.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    return "libsvm" if name.endswith((".svm", ".libsvm")) else "xmlc"


def reads_whole_texts(model: Any) -> bool:
    """Return whether a model was trained on texts in one go; an online model reads the words of texts as features."""
    return bool(model.model_.takes_text and not model.model_.learns)


@dataclass(frozen=True)
class DataFile:
    """A file named on the command line, or standard input (``-``), and how to read it.

    With `one_based` None, ids count as usual in the format: in XMLC files from 0, features of libsvm files from 1. Only
    reading in blocks detects the format for ``auto``, and reads formats with named features.
    """

    path: str
    format: StreamFormat
    one_based: bool | None = None

    def read(self, n_features: int | None = None, n_labels: int | None = None) -> tuple[Any, Any]:
        """Return X and y."""
        read = read_libsvm if self.format == "libsvm" else read_xmlc
        return read(
            self.path,
            one_based=bool(self._first_feature),
            n_features=n_features,
            n_labels=n_labels,
            n_jobs=-1,
        )

    def read_for(self, model: Any) -> tuple[Any, Any]:
        """Return X as `model` expects it, and y with a column for each number up to the model's largest label."""
        X, y = self.read()
        self._resize(y, int(model.classes_.max()) + 1, "label", self.first_label)
        return self._for_model(X, model), y

    def blocks_for(self, model: Any) -> Iterator[Any]:
        """Return X in blocks of rows as they come, so that a file or a pipe need not fit in memory."""
        for X, _ in self._batches_for(model, labelled=False):
            yield X

    def examples_for(self, model: Any) -> tuple[Any, list[list[Any]]]:
        """Return all rows for a model of texts or an online model, and lists of their labels, known or not."""
        batches = list(self._batches_for(model, labelled=True))
        y = [labels for batch in batches for labels in batch.y]
        if batches and isinstance(batches[0].X, list):
            return [row for batch in batches for row in batch.X], y
        matrices: list[Any] = [batch.X for batch in batches]
        for X in matrices:
            X.resize(X.shape[0], max(X.shape[1] for X in matrices))
        return vstack(matrices, format="csr"), y

    def _batches_for(self, model: Any, labelled: bool) -> Iterator[Batch]:
        stream = ExampleStream(
            self.path,
            self.format,
            one_based=self.one_based,
            labelled=labelled,
            whole_texts=reads_whole_texts(model),
            block_bytes=BLOCK_BYTES,
            n_threads=n_threads(-1),
        )
        n_rows = 0
        for X, y in stream:
            yield Batch(replace(self, format=stream.format)._for_model(X, model, n_rows), y)
            n_rows = stream.n_examples
        if n_rows == 0 and stream.header_rows is None:
            raise DataFormatError("expected at least one row, got an empty file", source_name(self.path), 1)

    @property
    def _first_feature(self) -> int:
        return int(self.format == "libsvm" if self.one_based is None else self.one_based)

    @property
    def first_label(self) -> int:
        """The number that the label of column 0 has in the file."""
        return int(self.format == "xmlc" and bool(self.one_based))

    def _for_model(self, X: Any, model: Any, first_row: int = 0) -> Any:
        if isinstance(X, list) and reads_whole_texts(model):
            return model.model_.text_rows(X)
        expects_names = _has_named_features(model)
        if isinstance(X, list) != expects_names:
            expected, found = ("names", "numbers") if expects_names else ("numbers", "names")
            raise DataFormatError(
                f"expected features that are {expected}, as the model has learned, got {found}",
                source_name(self.path),
            )
        if not model.model_.learns:  # an online model may get new features
            self._resize(X, model.n_features_in_, "feature", self._first_feature, first_row)
        return X

    def _resize(self, matrix: Any, n_columns: int, noun: str, first_id: int, first_row: int = 0) -> None:
        """Give a matrix the columns that the model knows; raise `DataFormatError` if it needs more."""
        if len(matrix.indices) and matrix.indices.max() >= n_columns:
            entry = int((matrix.indices >= n_columns).argmax())
            row = int(matrix.indptr.searchsorted(entry, side="right")) - 1
            raise DataFormatError(
                f"row {first_row + row} has the {noun} {matrix.indices[entry] + first_id}, but the largest that the "
                f"model knows is {n_columns - 1 + first_id}; if the files belong together, "
                f"train with --n-{noun}s {int(matrix.indices.max()) + 1} or more",
                source_name(self.path),
            )
        matrix.resize(matrix.shape[0], n_columns)


def read_labelled_rows(model: Any, path: Path, source: DataFile) -> tuple[Any, Any]:
    """Return X and y to measure the model in `path` with.

    y is lists of labels for models of texts and online models, else a matrix with a column for each number up to the
    model's largest label.
    """
    detected = format_of(source.path, source.format)
    if (detected == "jsonl" and reads_whole_texts(model)) or model.model_.learns:
        return source.examples_for(model)
    if source.format in ("jsonl", "fasttext"):
        raise typer.BadParameter(f"{path} was trained on rows of numbers", param_hint="--format")
    if not are_ids(model.classes_):
        raise ValueError(
            f"the labels of {path} are names such as {model.classes_.tolist()[0]!r}, but data files have numbers "
            "from 0; evaluate it in Python with labeltree.metrics"
        )
    X, y = replace(source, format=detected).read_for(model)
    if X.shape[0] == 0:
        raise ValueError(f"{source.path}: expected at least one row to evaluate, got none")
    return X, y


def label_lists(y: Any) -> list[tuple[Any, ...]]:
    """Return the labels of each row of y, a matrix or lists; tuples, as lists of 0 and 1 would be read as a matrix."""
    rows = y if isinstance(y, list) else y.tolil().rows
    return [tuple(labels) for labels in rows]


def _has_named_features(model: Any) -> bool:
    """Return whether an online model has learned features with names."""
    return bool(model.model_.takes_text and model.model_.learns)

"""Data files as commands read them: whole, or block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy.sparse import vstack

from labeltree.cli.options import StreamFormat
from labeltree.data import read_libsvm, read_xmlc
from labeltree.data.block_formats import Batch
from labeltree.data.sources import source_name
from labeltree.data.stream import ExampleStream
from labeltree.errors import DataFormatError
from labeltree.validation import n_threads

BLOCK_BYTES = 1 << 23


def format_of(path: str, format: StreamFormat) -> Literal["xmlc", "libsvm"]:
    """The format of rows of numbers that is meant: by ``auto``, the one that the name of the file says."""
    if format == "xmlc" or format == "libsvm":
        return format
    name = re.sub(r"\.(gz|xz|zst)$", "", path.lower())
    return "libsvm" if name.endswith((".svm", ".libsvm")) else "xmlc"


def is_json_lines(path: str, format: StreamFormat) -> bool:
    """Whether JSON lines are meant: by ``auto``, if the name of the file says so."""
    name = re.sub(r"\.(gz|xz|zst)$", "", path.lower())
    return format == "jsonl" or (format == "auto" and name.endswith((".jsonl", ".ndjson")))


@dataclass(frozen=True)
class DataFile:
    """A file named on the command line, or standard input (``-``), and how to read it.

    `one_based` None is the custom of the format: XMLC files count from 0, features of libsvm files from 1. Only
    reading in blocks finds out by itself what ``auto`` is, and knows formats with named features.
    """

    path: str
    format: StreamFormat
    one_based: bool | None = None

    def read(self, n_features: int | None = None, n_labels: int | None = None) -> tuple[Any, Any]:
        """X and y."""
        one_based = bool(self._first_feature)
        if self.format == "libsvm":
            return read_libsvm(
                self.path, one_based=one_based, n_features=n_features, n_labels=n_labels, n_jobs=-1
            )
        return read_xmlc(self.path, one_based=one_based, n_features=n_features, n_labels=n_labels, n_jobs=-1)

    def read_for(self, model: Any) -> tuple[Any, Any]:
        """X as `model` wants it, and y with a column for each number that is a label of the model."""
        X, y = self.read()
        n_labels = int(model.classes_.max()) + 1
        if len(y.indices) and y.indices.max() >= n_labels:
            row, label = _first_beyond(y, n_labels)
            raise DataFormatError(
                f"row {row} has the label {label + self.first_label}, but the largest that the model knows is "
                f"{n_labels - 1 + self.first_label}; if the files belong together, "
                f"train with --n-labels {int(y.indices.max()) + 1}",
                source_name(self.path),
            )
        y.resize(y.shape[0], n_labels)
        return self._for_model(X, model, 0), y

    def blocks_for(self, model: Any) -> Iterator[Any]:
        """X in blocks of rows as they come, so that neither the file nor what a pipe brings need fit in memory."""
        for X, _ in self._batches_for(model, labelled=False):
            yield X

    def examples_for(self, model: Any) -> tuple[Any, list[list[Any]]]:
        """All rows for an online model or a tagger's, and lists of their labels, whether it knows them or not."""
        batches = list(self._batches_for(model, labelled=True))
        y = [labels for batch in batches for labels in batch.y]
        if getattr(model, "named_features_", False):
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
            whole_texts=hasattr(model, "vectorizer_"),
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

    def _for_model(self, X: Any, model: Any, first_row: int) -> Any:
        if isinstance(X, list) and hasattr(model, "vectorizer_"):
            return model.vectorizer_.transform(X)
        wants_names = learns_from_streams(model) and model.named_features_
        if isinstance(X, list) != wants_names:
            wanted, found = ("names", "numbers") if wants_names else ("numbers", "names")
            raise DataFormatError(
                f"expected features that are {wanted}, as the model has learned, got {found}",
                source_name(self.path),
            )
        if learns_from_streams(model):
            return X  # which may have features that are new to it
        n_features = model.n_features_in_
        if len(X.indices) and X.indices.max() >= n_features:
            row, feature = _first_beyond(X, n_features)
            raise DataFormatError(
                f"row {first_row + row} has the feature {feature + self._first_feature}, but the largest that the "
                f"model knows is {n_features - 1 + self._first_feature}; if the files belong together, "
                f"train with --n-features {int(X.indices.max()) + 1} or more",
                source_name(self.path),
            )
        X.resize(X.shape[0], n_features)
        return X


def learns_from_streams(model: Any) -> bool:
    """Whether a model is an online one."""
    return hasattr(model, "n_examples_")


def _first_beyond(matrix: Any, n_columns: int) -> tuple[int, int]:
    """Row and column of the first entry that is not in the first `n_columns`."""
    entry = int((matrix.indices >= n_columns).argmax())
    return int(matrix.indptr.searchsorted(entry, side="right")) - 1, int(matrix.indices[entry])

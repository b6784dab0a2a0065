"""Data files as commands read them: whole, or block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from labeltree.data import ExampleStream
    from labeltree.data.columns import Columns

DataFormat: TypeAlias = Literal["auto", "jsonl", "fasttext", "xmlc", "libsvm"]

BLOCK_BYTES = 1 << 23


def format_of(path: str, format: DataFormat) -> DataFormat:
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
class Rows:
    """X as a model expects it, and y: lists of labels, or a matrix.

    `texts` are what X was made from, if the model reads texts. `ids` has the id of each row, if a column has ids.
    """

    X: Any
    y: Any
    texts: list[Any] | None = None
    ids: list[Any] | None = None


@dataclass(frozen=True)
class DataFile:
    """A file named on the command line, or standard input (``-``), and how to read it.

    Columns that are not given have their usual names. With `one_based` None, ids count as usual in the format: in XMLC
    files from 0, features of libsvm files from 1. Only reading in blocks detects the format for ``auto``.
    """

    path: str
    format: DataFormat = "auto"
    text: tuple[str, ...] = ()
    labels: str | None = None
    separator: str | None = None
    id: str | None = None
    one_based: bool | None = None
    n_features: int | None = None
    n_labels: int | None = None

    def alike(self, path: str) -> DataFile:
        """Return another file that is read in the same way."""
        return replace(self, path=path)

    @property
    def columns(self) -> Columns:
        """The columns of the text, the labels and the id."""
        from labeltree.data.columns import Columns

        return Columns(self.text or ("text",), self.labels or "labels", self.separator, self.id)

    def read(self) -> tuple[Any, Any]:
        """Return X and y of a file of numbers."""
        from labeltree.data import read_libsvm, read_xmlc

        read = read_libsvm if format_of(self.path, self.format) == "libsvm" else read_xmlc
        return read(
            self.path,
            one_based=bool(self._first_feature),
            n_features=self.n_features,
            n_labels=self.n_labels,
            n_jobs=-1,
        )

    def read_for(self, model: Any) -> tuple[Any, Any]:
        """Return X as `model` expects it, and y with a column for each number up to the model's largest label."""
        X, y = self.read()
        self._resize(y, int(model.classes_.max()) + 1, "label", self.first_label)
        return self._for_model(X, model), y

    def stream(self, source: Any = None, **settings: Any) -> ExampleStream:
        """Return batches of examples, from the file itself or from `source`, an open file."""
        from labeltree.data import ExampleStream

        return ExampleStream(
            self.path if source is None else source,
            self.format,
            columns=self.columns,
            one_based=self.one_based,
            **settings,
        )

    def blocks_for(self, model: Any, labelled: bool = False) -> Iterator[Rows]:
        """Return blocks of rows as they come, so that a file or a pipe need not fit in memory."""
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError
        from labeltree.validation import n_threads

        stream = self.stream(
            labelled=labelled,
            whole_texts=reads_whole_texts(model),
            block_bytes=BLOCK_BYTES,
            n_threads=n_threads(-1),
        )
        n_rows = 0
        for X, y in stream:
            texts = X if isinstance(X, list) and reads_whole_texts(model) else None
            X = replace(self, format=stream.format)._for_model(X, model, n_rows)
            yield Rows(X, y, texts, None if self.id is None else stream.ids)
            n_rows = stream.n_examples
        if n_rows == 0 and stream.header_rows is None:
            raise DataFormatError("expected at least one row, got an empty file", source_name(self.path), 1)

    @property
    def _first_feature(self) -> int:
        is_libsvm = format_of(self.path, self.format) == "libsvm"
        return int(is_libsvm if self.one_based is None else self.one_based)

    @property
    def first_label(self) -> int:
        """The number that the label of column 0 has in the file."""
        return int(format_of(self.path, self.format) == "xmlc" and bool(self.one_based))

    def _for_model(self, X: Any, model: Any, first_row: int = 0) -> Any:
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError

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
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError

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


def _has_named_features(model: Any) -> bool:
    """Return whether an online model has learned features with names."""
    return bool(model.model_.takes_text and model.model_.learns)

"""Data files and stores as commands read them: whole, or block by block."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from labeltree.data import ExampleStream, Store
    from labeltree.data.columns import Columns

#: The formats of `labeltree.data.formats`, which a help page need not import.
DataFormat: TypeAlias = Literal[
    "auto", "jsonl", "csv", "tsv", "parquet", "arrow", "fasttext", "xmlc", "libsvm"
]

BLOCK_BYTES = 1 << 23
#: Rows of a store that are predicted at once.
STORE_BLOCK_ROWS = 10_000

#: A column, and its weight.
_COLUMN = re.compile(r"(.+?)(?:=(\d+\.?\d*|\.\d+))?", re.DOTALL)


def reads_whole_texts(model: Any) -> bool:
    """Return whether a model was trained on texts in one go; an online model reads the words of texts as features."""
    return bool(model.model_.takes_text and not model.model_.learns)


@dataclass(frozen=True)
class Rows:
    """X as a model expects it, and y: lists of labels, or a matrix.

    `texts` are what X was made from, if the model reads texts. `ids` has the id of each row, if a column has ids.
    `store` has the same rows, if a store was read.
    """

    X: Any
    y: Any
    texts: list[Any] | None = None
    ids: list[Any] | None = None
    store: Store | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y) if isinstance(self.y, list) else int(self.y.shape[0])


@dataclass(frozen=True)
class DataFile:
    """A file named on the command line, standard input (``-``) or the directory of a store, and how to read it.

    Columns that are not given have their usual names. With `one_based` None, ids count as usual in the format: in XMLC
    files from 0, features of libsvm files from 1.
    """

    path: str
    #: "store" only once it is recognised.
    format: DataFormat | Literal["store"] = "auto"
    text: tuple[str, ...] = ()
    labels: str | None = None
    separator: str | None = None
    id: str | None = None
    one_based: bool | None = None
    n_features: int | None = None
    n_labels: int | None = None
    #: What is read: the file, or a pipe whose first lines were looked at.
    source: Any = field(default=None, repr=False)

    def alike(self, path: str) -> DataFile:
        """Return another file that is read in the same way."""
        return replace(self, path=path, source=None)

    @contextmanager
    def recognised(self, fields: Collection[str] = ()) -> Iterator[DataFile]:
        """Open the file to look at its first line, and yield it with its format; `fields` are those of a model."""
        from labeltree.data.fasttext import LABEL_PREFIX
        from labeltree.data.formats import format_of_content, format_of_name
        from labeltree.data.lines import LineError
        from labeltree.data.sources import open_peeked, source_name
        from labeltree.errors import DataFormatError

        if self.store is not None:
            self._check_no_options()
            yield replace(self, format="store")
            return
        format: Any = format_of_name(self.path) if self.format == "auto" else self.format
        if format is not None:
            yield replace(self, format=format)
            return
        with open_peeked(self.path) as (head, source):
            try:
                format = format_of_content(head, self.columns(fields=fields), LABEL_PREFIX)
            except LineError as error:
                raise DataFormatError(error.reason, source_name(self.path), error.line) from None
            yield replace(self, format=format, source=source)

    @cached_property
    def store(self) -> Store | None:
        """The store, if the path is a directory."""
        if not os.path.isdir(self.path):
            return None
        from labeltree.data import Store

        return Store(self.path)

    @property
    def has_numbers(self) -> bool:
        """Whether there are rows of numbers, and not of texts; to be asked once the format is recognised."""
        from labeltree.data.formats import NUMBER_FORMATS

        return self.format in NUMBER_FORMATS or (self.store is not None and self.store.vectorizer is None)

    @property
    def fields(self) -> dict[str, float] | None:
        """The columns of ``--text`` and their weights, 1 by default; None without the option."""
        return {name: 1.0 if weight is None else weight for name, weight in self._given_fields} or None

    @cached_property
    def _given_fields(self) -> list[tuple[str, float | None]]:
        """The columns of ``--text``, each with its weight if it has one."""
        found = [_COLUMN.fullmatch(column) for column in self.text]
        return [(column[1], None if column[2] is None else float(column[2])) for column in found if column]

    def __post_init__(self) -> None:
        import typer

        for flag, names in {
            "--text": [name for name, _ in self._given_fields] if all(self.text) else self.text,
            "--labels": [self.labels],
            "--id": [self.id],
        }.items():
            if "" in names:
                raise typer.BadParameter("expected the name of a column, got ''", param_hint=flag)
            if len(set(names)) < len(names):
                raise typer.BadParameter("expected every column once", param_hint=flag)
        if self.separator == "":
            raise typer.BadParameter("expected at least one character, got ''", param_hint="--separator")

    def columns(self, labelled: bool = True, fields: Collection[str] = ()) -> Columns:
        """Return the columns of the text, the labels and the id.

        `fields` are the columns that a model has learned as fields: they are read unless others were chosen.
        """
        from labeltree.data.columns import Columns

        text = tuple(self.fields or fields or ("text",))
        labels = (self.labels or "labels") if labelled else None
        return Columns(text, labels, self.separator, self.id, are_fields=set(text) <= set(fields))

    def read(self) -> tuple[Any, Any]:
        """Return X and y of a file or store of numbers, whose format is recognised."""
        from labeltree.data import read_libsvm, read_xmlc
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError

        if not self.has_numbers:
            raise DataFormatError(
                f"expected rows of numbers (xmlc or libsvm), got texts ({self.format})",
                source_name(self.path),
            )
        if self.store is not None:
            return self.store.X, self.store.y
        self.check_no_columns()
        read = read_libsvm if self.format == "libsvm" else read_xmlc
        return read(
            self.source or self.path,
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

    def stream(
        self,
        source: Any = None,
        *,
        labelled: bool = True,
        fields: Collection[str] = (),
        **settings: Any,
    ) -> ExampleStream:
        """Return batches of examples, from the file itself or from `source`, an open file.

        `fields` may have weights; others must not be given in ``--text``, because they would not be heeded.
        """
        from labeltree.data import ExampleStream

        if self.store is not None:
            raise ValueError(
                f"{self.path} is a store, which has no texts any more: give the files it was made of"
            )
        self._check_weights(fields if isinstance(fields, Mapping) else {})
        return ExampleStream(
            source or self.source or self.path,
            cast(DataFormat, self.format),
            columns=self.columns(labelled, fields),
            one_based=self.one_based,
            **settings,
        )

    def blocks_for(
        self, model: Any, labelled: bool = False, *, times: int = 1, keep_texts: bool = False
    ) -> Iterator[Rows]:
        """Return blocks of rows as they come, so that a file or a pipe need not fit in memory.

        A block has `times` as many rows as usual. With `keep_texts`, X has the texts instead of their features.
        """
        from labeltree.validation import n_threads

        if self.store is not None:
            with self.recognised() as file:
                yield from file._stored_blocks(model, times)
            return
        self._check_kind(model)
        stream = self.stream(
            labelled=labelled,
            fields=_fields_of(model) if reads_whole_texts(model) else (),
            whole_texts=reads_whole_texts(model),
            block_bytes=times * BLOCK_BYTES,
            n_threads=n_threads(-1),
        )
        n_rows = 0
        for X, y in stream:
            texts = X if isinstance(X, list) and reads_whole_texts(model) else None
            if texts is None or not keep_texts:
                X = replace(self, format=stream.format)._for_model(X, model, n_rows)
            yield Rows(X, y, texts, None if self.id is None else stream.ids)
            n_rows = stream.n_examples

    def stored_rows(self, model: Any) -> Rows:
        """Return all rows of a store of texts for a model of texts, with lists of their labels; nothing is copied."""
        from labeltree.labels.reading import as_lists

        store = self._store_for(model)
        return Rows(store.X, as_lists(store.labels))

    def _stored_blocks(self, model: Any, times: int) -> Iterator[Rows]:
        from labeltree.labels.reading import as_lists

        n_rows = 0
        for block in self._store_for(model).blocks(times * STORE_BLOCK_ROWS):
            X = block.matrix()
            if self.has_numbers:
                X = self._for_model(X, model, n_rows)
            yield Rows(X, as_lists(block.labels))
            n_rows += len(block)

    def _store_for(self, model: Any) -> Store:
        """Return the store, if its rows mean anything to a model."""
        assert self.store is not None
        if not self.has_numbers and (model.model_.learns or not reads_whole_texts(model)):
            raise ValueError(f"{self.path} has rows of texts, but the model was not trained on such rows")
        model.model_.check_words(self.store)
        return self.store

    def _check_no_options(self) -> None:
        """Refuse options that say how to read a file."""
        import typer

        given = {**vars(self), "format": None if self.format in ("auto", "store") else self.format}
        for name in ("format", "text", "labels", "separator", "id", "one_based", "n_features", "n_labels"):
            if given[name] not in (None, ()):
                raise typer.BadParameter(
                    f"is for reading files, but {self.path} is a store, which was read already",
                    param_hint=f"--{name.replace('_', '-')}",
                )

    @property
    def options(self) -> str:
        """The options of the columns that were given, as a shell reads them, each with a space before it."""
        given: list[tuple[str, str | None]] = [("--text", column) for column in self.text]
        given += [("--labels", self.labels), ("--separator", self.separator)]
        if self.format not in ("auto", "store"):
            given.append(("--format", self.format))
        return "".join(f" {flag} {shlex.quote(value)}" for flag, value in given if value)

    def _check_kind(self, model: Any) -> None:
        """Refuse a file of texts, by its name, for a model of numbers, before a column is missed."""
        from labeltree.data.formats import NUMBER_FORMATS, format_of_name
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError

        format = format_of_name(self.path) if self.format == "auto" else self.format
        if format is not None and format not in NUMBER_FORMATS and not model.model_.takes_text:
            raise DataFormatError(
                f"expected rows of numbers, as the model has learned, got texts or named features ({format})",
                source_name(self.path),
            )

    @property
    def _first_feature(self) -> int:
        return int(self.format == "libsvm" if self.one_based is None else self.one_based)

    @property
    def first_label(self) -> int:
        """The number that the label of column 0 has in the file, whose format is recognised."""
        return int(self.format == "xmlc" and bool(self.one_based))

    def _check_weights(self, weights: Mapping[str, float]) -> None:
        import typer

        for name, weight in self._given_fields:
            if weight is not None and weight != weights.get(name):
                known = f", which has {weights[name]:g}" if name in weights else ""
                raise typer.BadParameter(
                    f"training sets the weight of {name!r}{known}: leave out '={weight:g}'",
                    param_hint="--text",
                )

    def check_no_columns(self) -> None:
        """Refuse options of columns for a file of numbers."""
        import typer

        given = {"--text": self.text, "--labels": self.labels, "--separator": self.separator, "--id": self.id}
        for flag, value in given.items():
            if value:
                raise typer.BadParameter(
                    f"is an option for files with columns, but {self.path} has rows of numbers",
                    param_hint=flag,
                )

    def _for_model(self, X: Any, model: Any, first_row: int = 0) -> Any:
        from labeltree.cli.console import print_warning
        from labeltree.data.sources import source_name
        from labeltree.errors import DataFormatError

        if isinstance(X, list) and reads_whole_texts(model):
            return model.model_.text_rows(X)
        expects_names = _has_named_features(model)
        if isinstance(X, list) != expects_names:
            expected, found = ("texts or named features", "rows of numbers")
            if not expects_names:
                expected, found = "rows of numbers", f"texts or named features ({self.format})"
            raise DataFormatError(
                f"expected {expected}, as the model has learned, got {found}", source_name(self.path)
            )
        if reads_whole_texts(model) and not _takes_rows(model):
            raise DataFormatError(
                "expected texts, as the model has learned, got rows of numbers", source_name(self.path)
            )
        if reads_whole_texts(model) and first_row == 0:
            print_warning(
                f"the model was trained on texts, but {source_name(self.path)} has rows of numbers: they are read as "
                "the features of its vectorizer"
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


def _fields_of(model: Any) -> Collection[str]:
    """Return the fields of the texts of a model, with their weights unless it is a mix."""
    vectorizer = getattr(model.model_, "vectorizer", None)
    return vectorizer.fields or () if vectorizer is not None else model.model_.text_fields


def _takes_rows(model: Any) -> bool:
    """Return whether rows of features mean anything to a model of texts: not to a network, nor to most mixes."""
    trained = model.model_
    return trained.vectorizer is not None or bool(getattr(trained.reader, "same_features", False))


def _has_named_features(model: Any) -> bool:
    """Return whether an online model has learned features with names."""
    return bool(model.model_.takes_text and model.model_.learns)

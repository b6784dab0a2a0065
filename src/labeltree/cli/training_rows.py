"""The data that a model is trained on: rows of numbers, or texts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import typer

from labeltree import sparse as sp
from labeltree.cli.data_file import DataFile
from labeltree.cli.figures import seconds_text
from labeltree.cli.parameters import option_name
from labeltree.cli.suspicious_data import warn_of_unsplit_labels
from labeltree.labels.reading import LabelRows, label_order, read_labels
from labeltree.mapped_rows import MappedRows
from labeltree.wording import count_text


@dataclass(frozen=True)
class TrainingRows:
    """X and y: a matrix of features and a 0/1 matrix, texts and lists of labels, or a store and its labels.

    `vectorizer` is what turned texts into features, if X has features of texts.
    """

    X: Any
    y: Any
    first_label: int = 0
    vectorizer: Any = None

    @property
    def are_texts(self) -> bool:
        return self.has_whole_texts or self.vectorizer is not None

    @property
    def has_whole_texts(self) -> bool:
        """Whether texts are there as they are, and not as rows of features."""
        return isinstance(self.X, list)

    @property
    def n_labels(self) -> int:
        """The number of labels of rows of numbers."""
        return self.y.n_labels if isinstance(self.y, LabelRows) else int(self.y.shape[1])

    def vectorized(self, vectorizer: Any) -> TrainingRows:
        """Return rows of features: these, or those of the texts."""
        if not self.has_whole_texts:
            return self
        return replace(self, X=vectorizer.fit_transform(self.X), vectorizer=vectorizer)

    @property
    def labels(self) -> list[Any]:
        """The labels, as a classifier that is trained on these rows will have them."""
        if isinstance(self.y, LabelRows):
            return list(self.y.classes.tolist())
        return label_order({*chain(*self.y)}) if self.are_texts else list(range(self.n_labels))

    def fit(self, classifier: Any, label_names: Any = None) -> None:
        """Train a classifier, which then reads texts as these were read; networks may learn from names of labels."""
        if self.vectorizer is None:
            classifier.fit(self.X, self.y, **({} if label_names is None else {"label_names": label_names}))
        else:
            classifier.fit(self.X, self.y, **classifier.fit_arguments(self.vectorizer))
            classifier.vectorizer_ = self.vectorizer

    def label_matrix(self) -> Any:
        """Return y as a matrix with a column for each label."""
        return self.y if sp.issparse(self.y) else read_labels(self.y).matrix()

    def feature_matrix(self) -> Any:
        """Return X as a matrix; that of a store is not read."""
        return self.X.matrix() if isinstance(self.X, MappedRows) else self.X

    def describe(self, n_labels: int, seconds: float) -> str:
        """Return the number of rows, features and labels in one line."""
        n_rows = len(self.X) if isinstance(self.X, list) else self.X.shape[0]
        features = "" if isinstance(self.X, list) else f"{count_text(self.X.shape[1], 'feature')}, "
        n_pairs = sum(map(len, self.y)) if isinstance(self.y, list) else _n_pairs(self.y)
        return (
            f"{count_text(n_rows, 'text' if self.are_texts else 'row')}, {features}"
            f"{count_text(n_labels, 'label')} ({n_pairs / n_rows:.1f} per row), read in {seconds_text(seconds)}"
        )


def read_training_rows(
    source: DataFile,
    text_options: Collection[str] = (),
    *,
    only_texts: str | None = None,
    as_fields: bool = True,
) -> TrainingRows:
    """Read a file of rows or of texts; `text_options` are the options for texts that were given.

    `only_texts` is the option that refuses rows of numbers. Unless `as_fields`, the columns of a text are joined.
    """
    from labeltree.data.sources import source_name

    with source.recognised() as file:
        if file.store is not None:
            return _of_store(file, text_options, only_texts)
        if only_texts is not None and file.has_numbers:
            raise ValueError(
                f"{source_name(file.path)}: {only_texts} expects texts, got rows of numbers ({file.format})"
            )
        check_options_for(file, text_options)
        if file.has_numbers:
            return TrainingRows(*file.read(), file.first_label)
        return _read_texts(file, as_fields)


def _n_pairs(y: Any) -> int:
    return len(y.indices)


def _of_store(file: DataFile, text_options: Collection[str], only_texts: str | None) -> TrainingRows:
    """Return the rows of a store; its texts have become rows already."""
    store: Any = file.store
    if only_texts is not None:
        raise ValueError(
            f"{file.path}: {only_texts} expects texts, got a store, which has the words of texts only"
        )
    if text_options:
        raise typer.BadParameter(
            f"is an option for texts, but {file.path} is a store of rows: give it to 'labeltree data import'",
            param_hint=option_name(min(text_options)),
        )
    return TrainingRows(store, store.labels, vectorizer=store.vectorizer)


def check_options_for(file: DataFile, text_options: Collection[str]) -> None:
    """Raise `BadParameter` for options of texts where a file, once recognised, has numbers, and the other way round."""
    if file.has_numbers and text_options:
        raise typer.BadParameter(
            f"is an option for texts, but {file.path} has rows of numbers",
            param_hint=option_name(min(text_options)),
        )
    if not file.has_numbers and (file.one_based is not None or file.n_labels is not None):
        raise typer.BadParameter("the labels of texts are names: leave out --one-based and --n-labels")


def _read_texts(source: DataFile, as_fields: bool = True) -> TrainingRows:
    from labeltree.data.sources import source_name

    texts: list[Any] = []
    labels: list[tuple[Any, ...]] = []
    for X, y in source.stream(whole_texts=True, fields=(as_fields and source.fields) or ()):
        texts += X
        labels += map(tuple, y)
    if not texts:
        raise ValueError(f"{source_name(source.path)}: expected at least one text, got none")
    for column in source.fields or ():  # JSON objects may lack a key, but a column that all lack is a mistake
        if not any(isinstance(text, str) or text[column] for text in texts):
            raise ValueError(f"{source_name(source.path)}: expected texts as {column!r} (--text), got none")
    warn_of_unsplit_labels(source, labels)
    return TrainingRows(texts, labels)


def read_validation_rows(source: DataFile, rows: TrainingRows) -> TrainingRows:
    """Read rows to measure models on, which are trained on `rows`."""
    if rows.vectorizer is not None:
        return _rows_like(source, rows)
    if rows.are_texts:
        found = read_training_rows(replace(source, n_features=None))
        if not found.are_texts:
            raise ValueError(f"{source.path}: expected texts, as in the training data, got rows of numbers")
        return found
    found = read_training_rows(replace(source, n_features=None, n_labels=None))
    if found.are_texts:
        raise ValueError(f"{source.path}: expected rows of numbers, as in the training data, got texts")
    if isinstance(found.X, MappedRows):
        found = replace(found, X=found.feature_matrix(), y=found.y.matrix())
    sizes = ((found.X, rows.X.shape[1], "--n-features"), (found.y, rows.n_labels, "--n-labels"))
    for matrix, n_columns, flag in sizes:
        if matrix.nnz and matrix.indices.max() >= n_columns:
            raise ValueError(
                f"{source.path}: has ids that the training data has not; if the files belong together, give "
                f"{flag} {int(matrix.indices.max()) + 1}"
            )
        matrix.resize(matrix.shape[0], n_columns)
    if found.X.shape[0] == 0:
        raise ValueError(f"{source.path}: expected at least one row to measure models with, got none")
    return found


def _rows_like(source: DataFile, rows: TrainingRows) -> TrainingRows:
    """Read texts, or a store of texts, as rows with the words of a store of texts."""
    found = read_training_rows(source)
    if not found.are_texts:
        raise ValueError(f"{source.path}: expected texts, as in the training data, got rows of numbers")
    if found.has_whole_texts:
        return replace(found, X=rows.vectorizer.transform(found.X), vectorizer=rows.vectorizer)
    if not found.vectorizer.has_columns_of(rows.vectorizer):
        raise ValueError(
            f"{source.path}: its words are not those of the training data: import it again with --like"
        )
    return found

"""The data that a model is trained on: rows of numbers, or texts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import typer

from labeltree.cli.data_file import DataFile
from labeltree.cli.figures import seconds_text
from labeltree.cli.parameters import option_name
from labeltree.cli.suspicious_data import warn_of_unsplit_labels
from labeltree.labels.reading import label_order, read_labels
from labeltree.wording import count_text


@dataclass(frozen=True)
class TrainingRows:
    """X and y: a matrix of features and a 0/1 matrix, or texts and lists of labels.

    `vectorizer` is what turned texts into features, if X has features of texts.
    """

    X: Any
    y: Any
    first_label: int = 0
    vectorizer: Any = None

    @property
    def are_texts(self) -> bool:
        return isinstance(self.X, list) or self.vectorizer is not None

    def vectorized(self, vectorizer: Any) -> TrainingRows:
        """Return rows of features: these, or those of the texts."""
        if not self.are_texts:
            return self
        return replace(self, X=vectorizer.fit_transform(self.X), vectorizer=vectorizer)

    @property
    def labels(self) -> list[Any]:
        """The labels, as a classifier that is trained on these rows will have them."""
        return label_order({*chain(*self.y)}) if self.are_texts else list(range(self.y.shape[1]))

    def fit(self, classifier: Any, label_names: Any = None) -> None:
        """Train a classifier, which then reads texts as these were read; networks may learn from names of labels."""
        if self.vectorizer is None:
            classifier.fit(self.X, self.y, **({} if label_names is None else {"label_names": label_names}))
        else:
            classifier.fit(self.X, self.y, **classifier.fit_arguments(self.vectorizer))
            classifier.vectorizer_ = self.vectorizer

    def label_matrix(self) -> Any:
        """Return y as a matrix with a column for each label."""
        if self.vectorizer is None:
            return self.y
        return read_labels(self.y).matrix()

    def describe(self, n_labels: int, seconds: float) -> str:
        """Return the number of rows, features and labels in one line."""
        n_rows = len(self.X) if isinstance(self.X, list) else self.X.shape[0]
        features = "" if isinstance(self.X, list) else f"{count_text(self.X.shape[1], 'feature')}, "
        n_pairs = sum(map(len, self.y)) if self.are_texts else int(self.y.nnz)
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
        if only_texts is not None and file.has_numbers:
            raise ValueError(
                f"{source_name(file.path)}: {only_texts} expects texts, got rows of numbers ({file.format})"
            )
        check_options_for(file, text_options)
        if file.has_numbers:
            return TrainingRows(*file.read(), file.first_label)
        return _read_texts(file, as_fields)


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
    if rows.are_texts:
        found = read_training_rows(replace(source, n_features=None))
        if not found.are_texts:
            raise ValueError(f"{source.path}: expected texts, as in the training data, got rows of numbers")
        return found
    found = read_training_rows(replace(source, n_features=None, n_labels=None))
    if found.are_texts:
        raise ValueError(f"{source.path}: expected rows of numbers, as in the training data, got texts")
    for matrix, like, flag in ((found.X, rows.X, "--n-features"), (found.y, rows.y, "--n-labels")):
        if matrix.nnz and matrix.indices.max() >= like.shape[1]:
            raise ValueError(
                f"{source.path}: has ids that the training data has not; if the files belong together, give "
                f"{flag} {int(matrix.indices.max()) + 1}"
            )
        matrix.resize(matrix.shape[0], like.shape[1])
    if found.X.shape[0] == 0:
        raise ValueError(f"{source.path}: expected at least one row to measure models with, got none")
    return found

"""The data that a model is trained on: rows of numbers, or texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import typer
from scipy.sparse import csr_matrix

from labeltree.cli.data_file import DataFile
from labeltree.cli.figures import seconds_text
from labeltree.cli.parameters import option_name
from labeltree.labels.reading import read_labels


@dataclass(frozen=True)
class TrainingRows:
    """X and y. For texts, y is lists of labels, and `vectorizer` has turned the texts into X."""

    X: Any
    y: Any
    first_label: int = 0
    vectorizer: Any = None

    def fit(self, classifier: Any) -> None:
        """Train a classifier, which then reads texts as these were read."""
        classifier.fit(self.X, self.y)
        if self.vectorizer is not None:
            classifier.vectorizer_ = self.vectorizer

    def label_matrix(self) -> Any:
        """Return y as a matrix with a column for each label."""
        if self.vectorizer is None:
            return self.y
        labels = read_labels(self.y)
        ones = np.ones(len(labels.indices), dtype=np.float32)
        return csr_matrix((ones, labels.indices, labels.indptr), shape=(labels.n_rows, labels.n_labels))

    def describe(self, n_labels: int, seconds: float) -> str:
        """Return the number of rows, features and labels in one line."""
        n_rows, n_features = self.X.shape
        n_pairs = int(self.y.nnz) if self.vectorizer is None else sum(map(len, self.y))
        return (
            f"{n_rows:,} {'rows' if self.vectorizer is None else 'texts'}, {n_features:,} features, "
            f"{n_labels:,} labels ({n_pairs / n_rows:.1f} per row), read in {seconds_text(seconds)}"
        )


def read_training_rows(
    source: DataFile, text_parameters: dict[str, Any], given_text_parameters: set[str]
) -> TrainingRows:
    """Read a file of rows or of texts."""
    with source.recognised() as file:
        if not file.has_numbers:
            if source.one_based is not None or source.n_labels is not None:
                raise typer.BadParameter(
                    "the labels of texts are names: leave out --one-based and --n-labels"
                )
            return _read_texts(file, {**text_parameters, "n_features": source.n_features})
        if given_text_parameters:
            raise typer.BadParameter(
                f"is an option for texts, but {source.path} has rows of numbers",
                param_hint=option_name(min(given_text_parameters)),
            )
        return TrainingRows(*file.read(), file.first_label)


def _read_texts(source: DataFile, parameters: dict[str, Any]) -> TrainingRows:
    from labeltree.cli.trained_model import refuse_wrong
    from labeltree.data.sources import source_name
    from labeltree.text import TextVectorizer

    vectorizer = TextVectorizer(**parameters, n_jobs=-1)
    refuse_wrong(vectorizer.check_parameters)
    texts: list[Any] = []
    labels: list[tuple[Any, ...]] = []
    for X, y in source.stream(whole_texts=True):
        texts += X
        labels += map(tuple, y)
    if not texts:
        raise ValueError(f"{source_name(source.path)}: expected at least one text, got none")
    return TrainingRows(vectorizer.fit_transform(texts), labels, 0, vectorizer)

"""The data that a model is trained on: rows of numbers, or texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import typer

from labeltree.cli.data_file import DataFile, format_of
from labeltree.cli.figures import seconds_text
from labeltree.cli.parameters import option_name


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

    def describe(self, n_labels: int, seconds: float) -> str:
        """Return the number of rows, features and labels in one line."""
        n_rows, n_features = self.X.shape
        n_pairs = int(self.y.nnz) if self.vectorizer is None else sum(map(len, self.y))
        return (
            f"{n_rows:,} {'rows' if self.vectorizer is None else 'texts'}, {n_features:,} features, "
            f"{n_labels:,} labels ({n_pairs / n_rows:.1f} per row), read in {seconds_text(seconds)}"
        )


def read_training_rows(
    source: DataFile,
    n_features: int | None,
    n_labels: int | None,
    text_parameters: dict[str, Any],
    given_text_parameters: set[str],
) -> TrainingRows:
    """Read a file of rows, or of JSON lines with texts."""
    source = replace(source, format=format_of(source.path, source.format))
    if source.format == "jsonl":
        if source.one_based is not None or n_labels is not None:
            raise typer.BadParameter("the labels of texts are names: leave out --one-based and --n-labels")
        return _read_texts(source.path, {**text_parameters, "n_features": n_features})
    if given_text_parameters:
        raise typer.BadParameter(
            f"is an option for texts, but {source.path} has rows of numbers",
            param_hint=option_name(min(given_text_parameters)),
        )
    return TrainingRows(*source.read(n_features, n_labels), source.first_label)


def _read_texts(data: str, parameters: dict[str, Any]) -> TrainingRows:
    from labeltree.cli.trained_model import refuse_wrong
    from labeltree.data import read_jsonl
    from labeltree.data.sources import source_name
    from labeltree.text import TextVectorizer

    vectorizer = TextVectorizer(**parameters, n_jobs=-1)
    refuse_wrong(vectorizer.check_parameters)
    texts, labels = read_jsonl(data)
    if not texts:
        raise ValueError(f"{source_name(data)}: expected at least one text, got none")
    return TrainingRows(vectorizer.fit_transform(texts), [tuple(row) for row in labels], 0, vectorizer)

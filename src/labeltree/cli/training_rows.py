"""What a model is trained on: rows of numbers, or texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer

from labeltree.cli.data_file import DataFile, format_of, is_json_lines
from labeltree.cli.options import StreamFormat


@dataclass(frozen=True)
class TrainingRows:
    """X and y; of texts y is lists of labels, and there is what made features of the texts."""

    X: Any
    y: Any
    first_label: int = 0
    vectorizer: Any = None

    @property
    def n_pairs(self) -> int:
        """How many labels all rows have."""
        return int(self.y.nnz) if self.vectorizer is None else sum(map(len, self.y))

    def fit(self, classifier: Any) -> None:
        """Train a classifier, and let it know how to read texts."""
        classifier.fit(self.X, self.y)
        if self.vectorizer is not None:
            classifier.vectorizer_ = self.vectorizer

    def describe(self, classifier: Any, seconds: str) -> str:
        """How many rows, features and labels there were, in a line."""
        n_rows, n_features = self.X.shape
        return (
            f"{n_rows:,} {'rows' if self.vectorizer is None else 'texts'}, {n_features:,} features, "
            f"{len(classifier.classes_):,} labels ({self.n_pairs / n_rows:.1f} per row), read in {seconds}"
        )


def read_training_rows(
    data: str,
    format: StreamFormat,
    one_based: bool | None,
    n_features: int | None,
    n_labels: int | None,
    text_parameters: dict[str, Any],
    given_text_parameters: set[str],
) -> TrainingRows:
    """Read a file of rows, or of JSON lines with texts."""
    if is_json_lines(data, format):
        if one_based is not None or n_labels is not None:
            raise typer.BadParameter("texts have names as labels: leave --one-based and --n-labels out")
        return _read_texts(data, {**text_parameters, "n_features": n_features})
    if given_text_parameters:
        name = min(given_text_parameters).replace("_", "-")
        raise typer.BadParameter(f"is about texts, but {data} has rows of numbers", param_hint=f"--{name}")
    source = DataFile(data, format_of(data, format), one_based)
    X, y = source.read(n_features, n_labels)
    return TrainingRows(X, y, source.first_label)


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

"""Labelled rows to measure a model by, as the kind of model wants them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from labeltree.cli.options import StreamFormat


def is_of_texts(data: str, format: StreamFormat, classifier: Any) -> bool:
    """Whether a data file has texts, and the model was trained on such."""
    from labeltree.cli.data_file import is_json_lines

    return hasattr(classifier, "vectorizer_") and is_json_lines(data, format)


def read_labelled_rows(
    classifier: Any, model: Path, data: str, format: StreamFormat, one_based: bool | None
) -> tuple[Any, Any]:
    """X and y: lists of labels for an online model, else a matrix with a column for each number that is a label."""
    from labeltree.cli.data_file import DataFile, format_of, learns_from_streams
    from labeltree.cli.label_names import are_ids

    if learns_from_streams(classifier) or is_of_texts(data, format, classifier):
        return DataFile(data, format, one_based).examples_for(classifier)
    if format in ("jsonl", "fasttext"):
        raise typer.BadParameter(f"{model} was trained on rows of numbers", param_hint="--format")
    if not are_ids(classifier.classes_):
        raise ValueError(
            f"the labels of {model} are names such as {classifier.classes_.tolist()[0]!r}, but data files have "
            "numbers from 0; evaluate it in Python with labeltree.metrics"
        )
    X, y = DataFile(data, format_of(data, format), one_based).read_for(classifier)
    if X.shape[0] == 0:
        raise ValueError(f"{data}: expected at least one row to evaluate, got none")
    return X, y

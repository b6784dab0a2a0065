"""The data that ``labeltree train --stream`` trains on: a file that is read again for every pass."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import typer

from labeltree.cli.data_file import DataFile
from labeltree.cli.figures import seconds_text
from labeltree.cli.training_rows import check_options_for
from labeltree.labels.reading import label_order
from labeltree.wording import count_text


@dataclass
class StreamedRows:
    """Rows that are never in memory all at once; otherwise like `TrainingRows`."""

    source: DataFile
    buffer_rows: int
    are_texts: bool
    vectorizer: Any = None
    _fitted: Any = field(default=None, repr=False)

    @property
    def labels(self) -> list[Any]:
        """All labels; this reads the file."""
        return label_order({label for _, y in self._batches() for labels in y for label in labels})

    def vectorized(self, vectorizer: Any) -> StreamedRows:
        """Let a vectorizer learn the words of the texts."""
        vectorizer.fit(text for texts, _ in self._batches() for text in texts)
        return replace(self, vectorizer=vectorizer)

    def fit(self, classifier: Any) -> None:
        """Train a classifier, which then reads texts as these are read."""
        arguments = {} if self.vectorizer is None else classifier.fit_arguments(self.vectorizer)
        if not self.are_texts and self.source.n_features is not None:
            arguments["n_features"] = self.source.n_features
        classifier.fit_stream(self._rows, buffer_rows=self.buffer_rows, **arguments)
        if self.vectorizer is not None:
            classifier.vectorizer_ = self.vectorizer
        self._fitted = classifier

    def describe(self, n_labels: int, seconds: float) -> str:
        """Return the number of rows, features and labels in one line."""
        model = self._fitted
        n_rows, per_row = model.n_samples_fit_, int(model.label_counts_.sum()) / model.n_samples_fit_
        return (
            f"{count_text(n_rows, 'text' if self.are_texts else 'row')}, "
            f"{count_text(model.n_features_in_, 'feature')}, {count_text(n_labels, 'label')} ({per_row:.1f} per row), "
            f"streamed; words learned in {seconds_text(seconds)}"
        )

    def _batches(self) -> Iterator[Any]:
        source = self.source
        return iter(source.stream(whole_texts=True, fields=source.fields or ()))

    def _rows(self) -> Iterator[Any]:
        if self.vectorizer is None:
            return self._batches()
        transform = self.vectorizer.transform
        return ((transform(texts), labels) for texts, labels in self._batches())


def open_streamed_rows(
    source: DataFile, buffer_rows: int, text_options: Collection[str] = ()
) -> StreamedRows:
    """Look at the first line of a file that will be streamed; `text_options` are the options for texts given."""
    if source.store is not None:
        raise typer.BadParameter(
            "is for files, but a store is read where it is: leave it out", param_hint="--stream"
        )
    if source.path == "-" or (os.path.exists(source.path) and not os.path.isfile(source.path)):
        raise typer.BadParameter(
            "--stream reads the data once for each epoch: give a file, not standard input or a pipe"
        )
    with source.recognised() as file:
        check_options_for(file, text_options)
        if file.n_labels is not None:
            raise typer.BadParameter("--stream finds the labels in the data: leave out --n-labels")
        return StreamedRows(replace(file, source=None), buffer_rows, not file.has_numbers)

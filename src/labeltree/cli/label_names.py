"""Names of labels and features on the command line: those of a file, those of the model, or numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from labeltree.data.labelled_rows import MOST_COLUMNS
from labeltree.data.sources import read_lines
from labeltree.errors import DataFormatError


def read_feature_names(path: Path, n_features: int) -> list[str]:
    """Return the lines of a file; raise `DataFormatError` if there are too few."""
    names = [line.strip() for _, line in read_lines(path)]
    if len(names) < n_features:
        raise DataFormatError(
            f"expected {n_features} names of features, one per line, as the model has features from 0 to "
            f"{n_features - 1}; got {len(names)}",
            str(path),
        )
    return names


def are_ids(labels: NDArray[Any]) -> bool:
    """Return whether a data file can have these labels: numbers from 0 that are not too large."""
    return labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < MOST_COLUMNS


class LabelNames:
    """The names of a model's labels: those of a file if there is one, else those that the model has.

    `names[label]` is the name of a label, or the label itself if it has none.
    """

    def __init__(self, model: Any, path: Path | None) -> None:
        self.are_from_file = path is not None
        self._names = model.label_names_
        if path is not None:
            from labeltree.labels import read_label_names

            try:
                self._names = read_label_names(path, model.classes_.tolist())
            except DataFormatError:
                raise
            except ValueError as error:
                raise ValueError(f"{error}; leave --label-names out, or give another file") from None
        self.may_have_blanks = self.known or model.classes_.dtype.kind not in "iu"

    @property
    def known(self) -> bool:
        """Whether there are names other than the labels."""
        return self._names is not None

    def get(self, label: Any) -> str | None:
        """Return the name of a label, if it has one."""
        return None if self._names is None else self._names.get(label)

    def __getitem__(self, label: Any) -> str:
        return self.get(label) or str(label)

    def beside(self, label: Any) -> str:
        """Return the label with its name beside it."""
        name = self.get(label)
        return str(label) if name is None else f"{label} ({name})"

    def to_json(self, label: Any) -> dict[str, str]:
        """Return the name of a label for a JSON object, if it has one."""
        name = self.get(label)
        return {} if name is None else {"name": name}

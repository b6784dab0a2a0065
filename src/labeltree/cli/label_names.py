"""Names of labels and features: numbers as in data files, or the lines of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from labeltree.data.labelled_rows import MOST_COLUMNS
from labeltree.data.sources import read_lines
from labeltree.errors import DataFormatError


def read_names(path: Path, noun: str, at_least: int) -> list[str]:
    """Return the lines of a file; raise `DataFormatError` if there are too few."""
    names = [line.strip() for _, line in read_lines(path)]
    if len(names) < at_least:
        raise DataFormatError(
            f"expected {at_least} names of {noun}s, one per line, as the model has {noun}s from 0 to {at_least - 1}; "
            f"got {len(names)}",
            str(path),
        )
    return names


def are_ids(labels: NDArray[Any]) -> bool:
    """Return whether a data file can have these labels: numbers from 0 that are not too large."""
    return labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < MOST_COLUMNS


class LabelNames:
    """The names of a model's labels: the lines of a file, if there is one, else the labels themselves."""

    def __init__(self, model: Any, path: Path | None) -> None:
        self._names: list[str] | None = None
        self.may_have_blanks = path is not None or model.classes_.dtype.kind not in "iu"
        if path is not None:
            if not are_ids(model.classes_):
                first = model.classes_.tolist()[0]
                raise ValueError(
                    f"the labels of this model are names already, such as {first!r}; leave --label-names out"
                )
            self._names = read_names(path, "label", int(model.classes_.max()) + 1)

    @property
    def known(self) -> bool:
        return self._names is not None

    def __getitem__(self, label: Any) -> str:
        return str(label) if self._names is None else self._names[label]

    def to_json(self, label: Any) -> dict[str, str]:
        """Return the name of a label for a JSON object, if there is a file of names."""
        return {"name": self[label]} if self.known else {}

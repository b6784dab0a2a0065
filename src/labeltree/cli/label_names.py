"""Names of labels and features, from files with one name per line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labeltree.data.sources import read_lines
from labeltree.errors import DataFormatError


def read_names(path: Path, noun: str, at_least: int) -> list[str]:
    """The lines of a file, of which there must be enough."""
    names = [line.strip() for _, line in read_lines(path)]
    if len(names) < at_least:
        raise DataFormatError(
            f"expected {at_least} names of {noun}s, one per line, as the model has {noun}s from 0 to {at_least - 1}; "
            f"got {len(names)}",
            str(path),
        )
    return names


class LabelNames:
    """What to call the labels of a model: by the lines of a file, if there is one, else as they are."""

    def __init__(self, model: Any, path: Path | None) -> None:
        self._names: list[str] | None = None
        if path is not None:
            if model.classes_.dtype.kind not in "iu":
                raise ValueError(
                    f"the labels of this model are names already, such as {model.classes_[0]!r}; leave --labels out"
                )
            self._names = read_names(path, "label", int(model.classes_.max()) + 1)

    @property
    def known(self) -> bool:
        return self._names is not None

    def __getitem__(self, label: Any) -> str:
        return str(label) if self._names is None else self._names[label]

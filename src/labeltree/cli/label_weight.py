"""Weights of labels as they are given on the command line: a word, or a file."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import metrics
from labeltree.cli.label_names import are_ids
from labeltree.data.sources import read_lines
from labeltree.errors import DataFormatError

#: What the first line of a file of labels with weights may be.
HEADER = ["label", "weight"]


def read_label_weight(given: str | None, model: Any, A: float = 0.55, B: float = 1.5) -> Any:
    """What `predict_topk` takes for ``--label-weight``: from "propensity" (by A and B), or from the lines of a file."""
    if given is None:
        return None
    if given == "propensity":
        return metrics.inverse_propensity_of_counts(model.label_counts_, model.n_samples_fit_, A, B)
    return weights_in_file(Path(given), model.classes_)


def weights_in_file(path: Path, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The weight of each label, in the order of `classes`.

    Parameters
    ----------
    path : Path
        Has either a weight on each line, in the order of the numbers of labels (of labels that have names, in that of
        `classes`), or ``label,weight`` on each, where labels that are left out weigh 1.
    classes : array
        The labels of the model.
    """
    lines = [(number, _fields(line, path, number)) for number, line in read_lines(path) if line.strip()]
    if lines and lines[0][1] == HEADER:
        del lines[0]
    if not lines:
        raise DataFormatError("expected weights of labels, got none", str(path))
    n_fields = len(lines[0][1])
    for number, fields in lines:
        if len(fields) != n_fields or n_fields > 2:
            raise DataFormatError(
                f"expected a weight on each line, or 'label,weight' on each, got {len(fields)} fields "
                f"(the first line has {n_fields})",
                str(path),
                number,
            )
    if n_fields == 2:
        return _by_label(path, classes, lines)
    n_expected = int(classes.max()) + 1 if are_ids(classes) else len(classes)
    if len(lines) != n_expected:
        raise DataFormatError(
            f"expected {n_expected} weights, one for each label of the model, got {len(lines)}; "
            "lines 'label,weight' may leave labels out",
            str(path),
        )
    weight = np.array([_weight(text, path, number) for number, (text,) in lines])
    return weight[classes] if are_ids(classes) else weight


def _by_label(path: Path, classes: NDArray[Any], lines: list[tuple[int, list[str]]]) -> NDArray[np.float64]:
    position = {str(label): i for i, label in enumerate(classes.tolist())}
    weight = np.ones(len(classes))
    given: set[str] = set()
    for number, (label, text) in lines:
        if label not in position:
            raise DataFormatError(f"the model has no label {label!r}", str(path), number)
        if label in given:
            raise DataFormatError(f"the label {label!r} is there twice", str(path), number)
        given.add(label)
        weight[position[label]] = _weight(text, path, number)
    return weight


def _fields(line: str, path: Path, number: int) -> list[str]:
    try:
        (fields,) = csv.reader([line], skipinitialspace=True, strict=True)
    except csv.Error as error:
        raise DataFormatError(
            f"expected fields with commas between them: {error}", str(path), number
        ) from None
    return [field.strip() for field in fields]


def _weight(text: str, path: Path, number: int) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0):
        raise DataFormatError(f"expected a weight, finite and at least 0, got {text!r}", str(path), number)
    return weight

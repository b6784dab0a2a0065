"""Weights of labels on the command line: a word, or a file."""

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

#: An optional first line of a file of labels with weights.
HEADER = ["label", "weight"]


def read_label_weight(given: str | None, model: Any, A: float = 0.55, B: float = 1.5) -> Any:
    """Return the `label_weight` of `predict_topk` for ``--label-weight``: by propensity, or from a file."""
    if given is None:
        return None
    if given == "propensity":
        return metrics.inverse_propensity_of_counts(model.label_counts_, model.n_samples_fit_, A, B)
    return weights_in_file(Path(given), model.classes_)


def weights_in_file(path: Path, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weight of each label, in the order of `classes`.

    Parameters
    ----------
    path : Path
        A file with a weight on each line, from label 0 on (for labels with names, in the order of `classes`), or with
        ``label,weight`` on each line, where labels that are left out weigh 1.
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
    weights = [_weight(fields[-1], path, number) for number, fields in lines]
    if n_fields == 1:
        has_ids = are_ids(classes)
        n_expected = int(classes.max()) + 1 if has_ids else len(classes)
        if len(lines) != n_expected:
            raise DataFormatError(
                f"expected {n_expected} weights, one for each label of the model, got {len(lines)}; "
                "lines 'label,weight' may leave labels out",
                str(path),
            )
        return np.array(weights)[classes] if has_ids else np.array(weights)
    position = {str(label): i for i, label in enumerate(classes.tolist())}
    found = np.ones(len(classes))
    given: set[str] = set()
    for (number, (label, _)), weight in zip(lines, weights, strict=True):
        if label not in position:
            raise DataFormatError(f"the model has no label {label!r}", str(path), number)
        if label in given:
            raise DataFormatError(f"the label {label!r} is there twice", str(path), number)
        given.add(label)
        found[position[label]] = weight
    return found


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

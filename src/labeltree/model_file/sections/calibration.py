"""The section of the calibration: the maps of all levels of all trees, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from labeltree.calibration.level_maps import LEVEL_ARRAYS, Calibration, LevelArrays
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import Fields, StoredFile
from labeltree.model_file.tensors import Tensor
from labeltree.trees import LabelTree

#: Calibrations came with this version of the format, and those that `fit` makes with a later one.
VERSION = 4
TRAINING_VERSION = 9


def write(draft: Draft, calibration: Calibration | None) -> None:
    """Add a calibration, if there is one."""
    if calibration is not None:
        part = TensorPart("calibration", encode(calibration))
        labels = {} if calibration.labels is None else {"labels": True}
        fields = {"method": calibration.method, **labels, "file": part}
        if calibration.source == "training":
            draft.add(TRAINING_VERSION, calibration={**fields, "source": calibration.source})
        else:
            draft.add(VERSION, calibration=fields)


@dataclass(frozen=True)
class StoredCalibration:
    """A calibration as ``model.json`` has it."""

    stored: Stored
    method: str
    file: StoredFile
    has_labels: bool
    source: str

    def read(self, trees: Sequence[LabelTree]) -> Calibration:
        """Return the maps of each tree, and of the label classifiers; raises `ValueError` unless all are there."""
        maps = decode(self.method, self.stored.tensors(self.file), trees, self.has_labels)
        return replace(maps, source=self.source)


def take(stored: Stored) -> StoredCalibration | None:
    """Take the fields of a calibration, if there is one."""
    if "calibration" not in stored.fields:
        return None
    fields = Fields(stored.fields.take("calibration", object), "calibration")
    from_training = "source" in fields
    stored.needs(TRAINING_VERSION if from_training else VERSION)
    has_labels = "labels" in fields and fields.take("labels", bool)
    if has_labels and "rerank" not in stored.fields:
        raise ValueError(
            "calibration: there is a map of label classifiers, but there are no label classifiers"
        )
    found = StoredCalibration(
        stored,
        fields.choose("method", tuple(LEVEL_ARRAYS)),
        fields.file("file", "calibration"),
        has_labels,
        fields.choose("source", ("training",)) if from_training else "calibrate",
    )
    fields.finish()
    return found


def encode(calibration: Calibration) -> dict[str, Tensor]:
    """Return the arrays of all trees, each joined to one; the begins of knots count from the first of all.

    The map of label classifiers is the last, like that of one more tree with one level.
    """
    maps = [*calibration.trees, *([] if calibration.labels is None else [calibration.labels])]
    arrays = {
        name: np.concatenate([of_tree[name] for of_tree in maps]) for name in LEVEL_ARRAYS[calibration.method]
    }
    if calibration.method == "isotonic":
        n_knots = np.concatenate([np.diff(of_tree["knot_begin"]) for of_tree in maps])
        arrays["knot_begin"] = np.cumsum([0, *n_knots], dtype=np.int64)
    return {name: Tensor.of(array) for name, array in arrays.items()}


def decode(
    method: str, tensors: Mapping[str, Tensor], trees: Sequence[LabelTree], has_labels: bool = False
) -> Calibration:
    """Return the maps of each tree; whether they are monotone is left to the kernel, which checks it."""
    expected = LEVEL_ARRAYS[method]
    if tensors.keys() != expected.keys():
        raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
    arrays = {name: tensors[name].values for name in expected}
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype.name != expected[name]:
            raise ValueError(
                f"{name} must be of one dimension and of type {expected[name]}, "
                f"got {array.dtype.name} of shape {array.shape}"
            )
    level_begin = np.cumsum([0, *(tree.depth + 1 for tree in trees), *([1] if has_labels else [])]).tolist()
    n_levels = level_begin[-1]
    levels = [slice(*ends) for ends in pairwise(level_begin)]
    if method == "platt":
        if any(len(array) != n_levels for array in arrays.values()):
            raise ValueError(f"expected a map for each of {n_levels} levels of the trees")
        maps: list[LevelArrays] = [
            {name: array[of_tree] for name, array in arrays.items()} for of_tree in levels
        ]
        return _calibration(method, maps, has_labels)
    begin = arrays["knot_begin"]
    if len(begin) != n_levels + 1:
        raise ValueError(f"expected a map for each of {n_levels} levels of the trees")
    if begin[0] != 0 or begin[-1] != len(arrays["knot_score"]) or (np.diff(begin) < 0).any():
        raise ValueError("knot_begin must ascend from 0 to the number of knots")
    maps = []
    for of_tree in levels:
        first, last = int(begin[of_tree.start]), int(begin[of_tree.stop])
        maps.append(
            {
                "knot_begin": begin[of_tree.start : of_tree.stop + 1] - first,
                "knot_score": arrays["knot_score"][first:last],
                "knot_probability": arrays["knot_probability"][first:last],
            }
        )
    return _calibration(method, maps, has_labels)


def _calibration(method: str, maps: list[LevelArrays], has_labels: bool) -> Calibration:
    return Calibration(method, maps[:-1], maps[-1]) if has_labels else Calibration(method, maps)

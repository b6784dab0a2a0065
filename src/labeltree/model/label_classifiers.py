"""`LabelClassifiers`: one linear classifier for each label, which rank what trees propose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.level_maps import LevelArrays
from labeltree.errors import ModelFileError
from labeltree.model.weight_types import WEIGHT_TYPES, from_bfloat16, int8_scale, to_bfloat16

#: The arrays of label classifiers and their types; `native/model/label_columns.h` describes them.
LABEL_ARRAYS: dict[str, tuple[str, ...]] = {
    "begin": ("int64",),
    "feature": ("int32",),
    "weight": ("float32", "uint16", "int8"),
    "bias": ("float32",),
    "scale": ("float32",),
}

#: Additional arrays of models with dense features: the weights of each label, one label after another.
DENSE_LABEL_ARRAYS: dict[str, tuple[str, ...]] = {
    "dense": ("float32", "uint16", "int8"),
    "dense_scale": ("float32",),
}


class LabelClassifiers:
    """The classifiers of all labels.

    Parameters
    ----------
    arrays : dict
        The arrays named in `LABEL_ARRAYS`; with dense features also those in `DENSE_LABEL_ARRAYS`. Only int8 weights
        have scales. Weights in uint16 are bfloat16 numbers.
    map : dict
        The map from scores to probabilities, of the same form as the maps of a calibration, with one level.
    dense_features : (int, int)
        The range of dense features: the first one, and the one after the last.
    """

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        map: LevelArrays,
        dense_features: tuple[int, int] = (0, 0),
    ) -> None:
        self.arrays = dict(arrays)
        self.map = map
        self.dense_features = dense_features

    def native(self, n_features: int) -> _native.LabelColumns:
        """Return the kernel's view of the arrays; raise `ModelFileError` if they contradict each other."""
        arrays = {name: values for name, values in self.arrays.items() if name != "dense_scale"}
        if "dense" in arrays:
            arrays["dense"] = self._float32("dense", "dense_scale")
        return _native.LabelColumns(arrays, n_features, self.dense_features)

    @property
    def n_weights(self) -> int:
        return sum(len(self.arrays[name]) for name in ("weight", "dense") if name in self.arrays)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def weight_type(self) -> str:
        """The type of the stored weights: "float32", "bfloat16" or "int8"."""
        return WEIGHT_TYPES[self.arrays["weight"].dtype.name]

    def with_weight_type(self, name: str) -> LabelClassifiers:
        """Return the classifiers with weights stored as "float32", "bfloat16" or "int8" (with a scale per label)."""
        if name == self.weight_type:
            return self
        arrays = {key: self.arrays[key] for key in ("begin", "feature", "bias")}
        for weight, scale in (("weight", "scale"), ("dense", "dense_scale")):
            if weight not in self.arrays:
                continue
            wide = self._float32(weight, scale)
            if name == "int8":
                arrays[weight], arrays[scale] = self._quantized(
                    wide, self._label_of_each(weight), len(arrays["bias"])
                )
            else:
                arrays[weight] = wide if name == "float32" else to_bfloat16(wide)
        return LabelClassifiers(arrays, self.map, self.dense_features)

    def _label_of_each(self, weight: str) -> NDArray[np.int64]:
        """Return the label of each weight."""
        n_labels = len(self.arrays["bias"])
        if weight == "weight":
            return np.repeat(np.arange(n_labels), np.diff(self.arrays["begin"]))
        return np.repeat(np.arange(n_labels), self.dense_features[1] - self.dense_features[0])

    def _float32(self, weight: str, scale: str) -> NDArray[np.float32]:
        values = self.arrays[weight]
        if values.dtype == np.uint16:
            return from_bfloat16(values)
        if values.dtype != np.int8:
            return values
        # The numbers of a hostile file: nothing is as large as they say before they are compared.
        n_labels, n_dense = len(self.arrays["bias"]), self.dense_features[1] - self.dense_features[0]
        if len(self.arrays[scale]) != n_labels or (weight == "dense" and len(values) != n_labels * n_dense):
            raise ModelFileError(
                f"label classifiers: the sizes of {weight} and {scale} do not fit the labels"
            )
        widened: NDArray[np.float32] = (
            values.astype(np.float32) * self.arrays[scale][self._label_of_each(weight)]
        )
        return widened

    @staticmethod
    def _quantized(
        weight: NDArray[np.float32], label: NDArray[np.int64], n_labels: int
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return the weights in 127 steps up to the largest of their label, and the size of a step for each label."""
        if not np.isfinite(weight).all():
            at = int(label[np.argmin(np.isfinite(weight))])
            raise ValueError(
                f"the classifier of label {at} has a weight that is not finite; int8 cannot hold it, but "
                "weights='float32' can"
            )
        largest = np.zeros(n_labels, dtype=np.float32)
        np.maximum.at(largest, label, np.abs(weight))
        scale = int8_scale(largest)
        return np.rint(weight / scale[label]).astype(np.int8), scale

"""`LabelClassifiers`: one linear classifier for each label, which rank what trees propose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.level_maps import LevelArrays
from labeltree.errors import ModelFileError
from labeltree.model.weight_types import CHUNK, WEIGHT_TYPES, from_bfloat16, int8_scale, to_bfloat16

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

#: Makes an array, given its name, size and type.
NewArray = Callable[[str, int, type[np.generic]], NDArray[Any]]
_TYPES: dict[str, type[np.generic]] = {"float32": np.float32, "bfloat16": np.uint16, "int8": np.int8}


def _in_memory(name: str, n_items: int, dtype: type[np.generic]) -> NDArray[Any]:
    return np.empty(n_items, dtype)


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

    def with_weight_type(self, name: str, new_array: NewArray = _in_memory) -> LabelClassifiers:
        """Return the classifiers with weights stored as "float32", "bfloat16" or "int8" (with a scale per label).

        Weights are converted in parts; `new_array` makes the array that they go to, in memory or on disk.
        """
        if name == self.weight_type:
            return self
        arrays = {key: self.arrays[key] for key in ("begin", "feature", "bias")}
        for weight, scale in (("weight", "scale"), ("dense", "dense_scale")):
            if weight not in self.arrays:
                continue
            if name == "int8":
                arrays[scale] = int8_scale(self._largest(weight, scale))
            values = arrays[weight] = new_array(weight, len(self.arrays[weight]), _TYPES[name])
            for part in _parts(len(values)):
                wide = self._float32(weight, scale, part)
                if name == "int8":
                    values[part] = np.rint(wide / arrays[scale][self._label_of_each(weight, part)])
                else:
                    values[part] = wide if name == "float32" else to_bfloat16(wide)
        return LabelClassifiers(arrays, self.map, self.dense_features)

    def _label_of_each(self, weight: str, part: slice) -> NDArray[np.int64]:
        """Return the label of each weight of a part."""
        if weight == "dense":
            return np.arange(part.start, part.stop) // self._n_dense
        begin = self.arrays["begin"]
        first, last = np.searchsorted(begin, part.start, "right") - 1, np.searchsorted(begin, part.stop)
        sizes = np.diff(np.clip(begin[first : last + 1], part.start, part.stop))
        return np.repeat(np.arange(first, last), sizes)

    @property
    def _n_dense(self) -> int:
        return self.dense_features[1] - self.dense_features[0]

    def _float32(self, weight: str, scale: str, part: slice | None = None) -> NDArray[np.float32]:
        """Return the weights of a part, or all of them."""
        values = self.arrays[weight]
        part = part or slice(0, len(values))
        if values.dtype == np.uint16:
            return from_bfloat16(values[part])
        if values.dtype != np.int8:
            return values[part]
        # The numbers of a hostile file: nothing is as large as they say before they are compared.
        n_labels = len(self.arrays["bias"])
        if len(self.arrays[scale]) != n_labels or (
            weight == "dense" and len(values) != n_labels * self._n_dense
        ):
            raise ModelFileError(
                f"label classifiers: the sizes of {weight} and {scale} do not fit the labels"
            )
        widened: NDArray[np.float32] = (
            values[part].astype(np.float32) * self.arrays[scale][self._label_of_each(weight, part)]
        )
        return widened

    def _largest(self, weight: str, scale: str) -> NDArray[np.float32]:
        """Return the largest absolute weight of each label; raise `ValueError` if one is not finite."""
        largest = np.zeros(len(self.arrays["bias"]), dtype=np.float32)
        for part in _parts(len(self.arrays[weight])):
            wide, label = self._float32(weight, scale, part), self._label_of_each(weight, part)
            if not np.isfinite(wide).all():
                raise ValueError(
                    f"the classifier of label {label[np.argmin(np.isfinite(wide))]} has a weight that is not finite; "
                    "int8 cannot hold it, but weights='float32' can"
                )
            np.maximum.at(largest, label, np.abs(wide))
        return largest


def _parts(n_weights: int) -> Iterator[slice]:
    for begin in range(0, n_weights, CHUNK):
        yield slice(begin, min(begin + CHUNK, n_weights))

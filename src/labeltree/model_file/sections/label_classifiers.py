"""The section of label classifiers, which rank what the trees propose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labeltree.calibration.level_maps import LEVEL_ARRAYS
from labeltree.model.label_classifiers import DENSE_LABEL_ARRAYS, LABEL_ARRAYS, LabelClassifiers
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import LARGEST_COUNT, Fields, StoredFile
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor

#: Label classifiers came with this version of the format.
VERSION = 9

#: The map from scores to probabilities is a sigmoid.
_MAP = LEVEL_ARRAYS["platt"]


def write(draft: Draft, judges: LabelClassifiers, n_proposals: int, least: float) -> None:
    """Add label classifiers."""
    tensors = {name: Tensor.of(values) for name, values in {**judges.arrays, **judges.map}.items()}
    for name in tensors.keys() & {"weight", "dense"}:
        tensors[name] = Tensor(WEIGHT_DTYPES[judges.weight_type], judges.arrays[name])
    draft.add(
        VERSION,
        rerank={"proposals": n_proposals, "least": least, "file": TensorPart("label-classifiers", tensors)},
    )


@dataclass(frozen=True)
class StoredLabelClassifiers:
    """Label classifiers as ``model.json`` has them."""

    stored: Stored
    n_proposals: int
    least: float
    file: StoredFile

    def tensors(self, weights: str, has_dense: bool) -> dict[str, Tensor]:
        """Map the file, if it has the tensors it must have."""
        tensors = self.stored.tensors(self.file)
        types: dict[str, tuple[str, ...]] = {**LABEL_ARRAYS, **{name: (kind,) for name, kind in _MAP.items()}}
        if has_dense:
            types |= DENSE_LABEL_ARRAYS
        if weights != "int8":
            types = {name: kinds for name, kinds in types.items() if not name.endswith("scale")}
        with blaming(self.file.name):
            _check(tensors, types)
            for name in types.keys() & {"weight", "dense"}:
                if tensors[name].dtype != WEIGHT_DTYPES[weights]:
                    raise ValueError(f"model.json says {weights} weights, but they are {tensors[name].dtype}")
        return tensors

    def read(self, weights: str, dense_features: tuple[int, int], n_labels: int) -> LabelClassifiers:
        """Return the classifiers; the kernel checks the inside of each when it is first used."""
        tensors = self.tensors(weights, dense_features[1] > dense_features[0])
        arrays = {name: tensor.values for name, tensor in tensors.items()}
        of_scores = {name: arrays.pop(name) for name in _MAP}
        with blaming(self.file.name):
            if len(arrays["bias"]) != n_labels:
                raise ValueError(
                    f"expected a classifier for each of {n_labels} labels, got {len(arrays['bias'])}"
                )
        return LabelClassifiers(arrays, of_scores, dense_features)


def take(stored: Stored) -> StoredLabelClassifiers | None:
    """Take the fields of label classifiers, if there are any."""
    if "rerank" not in stored.fields:
        return None
    stored.needs(VERSION)
    fields = Fields(stored.fields.take("rerank", object), "rerank")
    n_proposals, least = fields.count("proposals", 1, LARGEST_COUNT), fields.take("least", float)
    if not 0 <= least <= 1:
        raise ValueError(f"rerank: 'least' must be a probability, got {least}")
    found = StoredLabelClassifiers(stored, n_proposals, least, fields.file("file", "label-classifiers"))
    fields.finish()
    return found


def _check(tensors: Mapping[str, Tensor], types: Mapping[str, tuple[str, ...]]) -> None:
    if tensors.keys() != types.keys():
        raise ValueError(f"expected the tensors {sorted(types)}, got {sorted(tensors)}")
    for name, kinds in types.items():
        values = tensors[name].values
        if values.ndim != 1 or values.dtype.name not in kinds:
            raise ValueError(
                f"{name} must be of one dimension and of type {' or '.join(kinds)}, got {values.dtype.name} of shape "
                f"{values.shape}"
            )

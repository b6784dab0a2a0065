"""Examples that the tasks of a training share: held by the process, or in files that every worker maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from labeltree import _native
from labeltree.mapped_rows import MappedRows
from labeltree.training.array_folder import Arrays
from labeltree.training.examples import Examples
from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.shared_features import SharedFeatures, share_features, share_store
from labeltree.training.workplace import Workplace


class SharedExamples(Protocol):
    """A handle of examples, as an argument of tasks."""

    def open(self) -> _native.Examples:
        """Return the examples as the kernel reads them, wherever this runs."""


@dataclass(frozen=True, eq=False)
class HeldExamples:
    """Examples for tasks that run in this process."""

    examples: _native.Examples

    def open(self) -> _native.Examples:
        return self.examples


@dataclass(frozen=True)
class FiledExamples:
    """Examples in files, which every worker maps.

    Attributes
    ----------
    features : SharedFeatures
    labels : SharedArrays
        "indptr" and "indices" of the labels, and "sample_weight" and "label_weight" if there are any.
    n_labels : int
    """

    features: SharedFeatures
    labels: SharedArrays
    n_labels: int

    def open(self) -> _native.Examples:
        return _opened(self)


def share_examples(examples: Examples, workplace: Workplace) -> SharedExamples:
    """Return a handle of examples for the tasks of a workplace; files are written once for all stages."""
    if workplace.is_here:
        return HeldExamples(examples.native)
    return workplace.shared.once(examples, lambda: _filed(examples, workplace))


def _filed(examples: Examples, workplace: Workplace) -> FiledExamples:
    labels = examples.labels
    given: Arrays = {"indptr": labels.indptr, "indices": labels.indices}
    for name in ("sample_weight", "label_weight"):
        if getattr(examples, name) is not None:
            given[name] = getattr(examples, name)
    features = (
        share_store(examples.X, examples.features, "features", workplace)
        if isinstance(examples.X, MappedRows)
        else share_features(examples.features, "features", workplace)
    )
    return FiledExamples(
        features,
        workplace.share("labels", given),
        labels.n_labels,
    )


@lru_cache(maxsize=2)
def _opened(filed: FiledExamples) -> _native.Examples:
    arrays = filed.labels.open()
    return _native.Examples(
        filed.features.open(),
        arrays["indptr"],
        arrays["indices"],
        filed.n_labels,
        arrays.get("sample_weight"),
        arrays.get("label_weight"),
    )

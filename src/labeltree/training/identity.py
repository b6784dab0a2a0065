"""What a training depends on, so that it resumes only from parts of the same training."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import labeltree
from labeltree import _native
from labeltree.progress import Phases
from labeltree.training.examples import Examples


def training_identity(examples: Examples, parameters: Mapping[str, Any], phases: Phases) -> dict[str, Any]:
    """Return what tells one training from another: version, examples and parameters.

    Parameters that are no plain values, such as a tree or an array, are told by their hash.
    """
    labels = examples.labels
    fingerprint = phases.run(
        "computing the fingerprint of the rows",
        lambda progress: _native.fingerprint(examples.features, progress),
    )
    return {
        "library_version": labeltree.__version__,
        "X": f"{fingerprint:016x}",
        "y": array_hash(labels.indptr, labels.indices),
        "sample_weight": None if examples.sample_weight is None else array_hash(examples.sample_weight),
        "parameters": {name: _plain(value) for name, value in parameters.items()},
    }


def array_hash(*arrays: NDArray[Any]) -> str:
    """Return a hash of arrays: their types, shapes and contents."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    import joblib

    return joblib.hash(value)

"""The constraints of the parameters of tree builders."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.trees.checks import first_true
from labeltree.validation import LARGEST_INTEGER, Constraint, Flag, Number, WordOrMatrix, check_arguments

#: The label vectors that can be computed.
LABEL_VECTORS = ("features", "cooccurrence", "both")

#: Parameters of builders that are also parameters of `LabelTreeClassifier`.
TREE_CONSTRAINTS: dict[str, Constraint] = {
    "max_arity": Number(2, LARGEST_INTEGER, integer=True, optional=True),
    "arity": Number(2, LARGEST_INTEGER, integer=True),
    "max_leaves": Number(1, LARGEST_INTEGER, integer=True),
    "max_depth": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "frequent_share": Number(0, 1),
    "collapse": Number(1, LARGEST_INTEGER, integer=True),
    "label_vectors": WordOrMatrix(LABEL_VECTORS),
    "label_vector_prune": Number(0),
}

#: All parameters of builders.
CONSTRAINTS: dict[str, Constraint] = {
    **TREE_CONSTRAINTS,
    "balanced": Flag(),
    "even_levels": Flag(),
    "normalize": Flag(),
    "n_labels": Number(1, LARGEST_INTEGER - 1, integer=True),
    "layers": Number(1, LARGEST_INTEGER, integer=True),
}


def check_builder(builder: str, **arguments: object) -> None:
    """Raise `ValueError` for the first argument of a builder that violates its constraint."""
    check_arguments(builder, arguments, CONSTRAINTS)


def check_counts(counts: ArrayLike) -> NDArray[np.float64]:
    """Return the count of each label as a float; raise `ValueError` unless counts are finite and at least 0."""
    array = np.asarray(counts)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"counts must be a 1-d array with a number per label, but has shape {array.shape} and type {array.dtype}"
        )
    array = array.astype(np.float64)
    if (label := first_true(~(np.isfinite(array) & (array >= 0)))) is not None:
        raise ValueError(f"counts must be finite and at least 0, but label {label} has {array[label]}")
    return array

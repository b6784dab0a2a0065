"""Label vectors for clustering: computed from examples, from co-occurring labels, or given by the user."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from labeltree import _native
from labeltree.validation import check_features

#: Label vectors as the kernel takes them.
KernelVectors: TypeAlias = _native.LabelVectors | _native.FeatureMatrix


def check_label_vectors(label_vectors: Any, n_labels: int) -> None:
    """Raise `ValueError` if given vectors are missing or not as many as the labels."""
    if label_vectors is None:
        raise ValueError(
            "label_vectors is None: a saved model does not keep the vectors its labels were clustered by; "
            "set label_vectors to these vectors, or to 'features', 'cooccurrence' or 'both'"
        )
    if not isinstance(label_vectors, str) and label_vectors.shape[0] != n_labels:
        raise ValueError(
            f"label_vectors must have a row for each of the {n_labels} labels of y, but has "
            f"{label_vectors.shape[0]}"
        )


def make_label_vectors(
    label_vectors: Any,
    prune: float,
    examples: _native.Examples,
    n_threads: int,
    progress: _native.Progress,
) -> KernelVectors:
    """Return label vectors of unit length; computed vectors drop entries below `prune`."""
    if not isinstance(label_vectors, str):
        return given_vectors(label_vectors)
    how = (examples, prune, n_threads, progress)
    if label_vectors == "features":
        return _native.label_vectors(*how)
    if label_vectors == "cooccurrence":
        return _native.cooccurrence_vectors(*how)
    return _native.join_vectors(_native.label_vectors(*how), _native.cooccurrence_vectors(*how))


def label_vector_matrix(made: KernelVectors, label_vectors: Any) -> Any:
    """Return the result of `make_label_vectors` as a matrix with a row per label; it is sparse unless given dense."""
    if isinstance(made, _native.LabelVectors):
        indptr, indices, data = made.arrays()
        return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, made.n_features))
    return normalize(label_vectors)


def given_vectors(vectors: Any) -> _native.FeatureMatrix:
    """Return a matrix of vectors as the kernel reads it, scaled to unit length, without a copy if possible."""
    vectors = check_array(
        vectors, accept_sparse="csr", dtype=[np.float32, np.float64], order="C", input_name="label_vectors"
    )
    return check_features(BaseEstimator(), vectors, normalize=True, reset=True)

"""What labels are clustered by: vectors made of their examples, of the labels beside them, or given by the user."""

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
    """Raise `ValueError` unless vectors that are given are as many as there are labels."""
    if label_vectors is None:
        raise ValueError(
            "label_vectors is None: a saved model does not keep the vectors its labels were clustered by; "
            "set label_vectors to them, or to 'features', 'cooccurrence' or 'both'"
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
    """Label vectors of unit length; computed ones are without entries below `prune`."""
    if not isinstance(label_vectors, str):
        return _given(label_vectors)
    how = (examples, prune, n_threads, progress)
    if label_vectors == "features":
        return _native.label_vectors(*how)
    if label_vectors == "cooccurrence":
        return _native.cooccurrence_vectors(*how)
    return _native.join_vectors(_native.label_vectors(*how), _native.cooccurrence_vectors(*how))


def label_vector_matrix(
    label_vectors: Any,
    prune: float,
    examples: _native.Examples,
    n_threads: int,
    progress: _native.Progress,
) -> Any:
    """`make_label_vectors` as a matrix with a row per label, sparse unless the user's is dense."""
    made = make_label_vectors(label_vectors, prune, examples, n_threads, progress)
    if isinstance(made, _native.LabelVectors):
        indptr, indices, data = made.arrays()
        return sp.csr_array((data, indices, indptr), shape=(examples.n_labels, made.n_features))
    return normalize(label_vectors)


def _given(vectors: Any) -> _native.FeatureMatrix:
    """The user's vectors, without a copy where none is needed."""
    vectors = check_array(
        vectors, accept_sparse="csr", dtype=[np.float32, np.float64], order="C", input_name="label_vectors"
    )
    return check_features(BaseEstimator(), vectors, normalize=True, reset=True)

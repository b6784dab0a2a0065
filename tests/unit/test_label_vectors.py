"""The vectors by which labels are clustered, as their twin computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from tests.documents import documents
from tests.reference.clustering import cooccurrence_vectors, label_vectors

from labeltree import _native
from labeltree.labels.reading import read_labels
from labeltree.validation import check_features

pytestmark = pytest.mark.native


def kernel_vectors(make: Any, X: Any, y: Any, prune: float, n_threads: int) -> Any:
    labels = read_labels(sp.csr_matrix(y))
    features = check_features(BaseEstimator(), sp.csr_matrix(X), normalize=True, reset=True)
    examples = _native.Examples(features, labels.indptr, labels.indices, labels.n_labels, None)
    vectors = make(examples, prune, n_threads, _native.Progress())
    indptr, indices, data = vectors.arrays()
    return sp.csr_matrix((data, indices, indptr), shape=(labels.n_labels, vectors.n_features)).toarray()


@pytest.mark.parametrize("prune", [0.0, 0.1, 0.4, 1.0])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_they_are_those_of_the_twin(prune: float, n_threads: int) -> None:
    """The largest entry stays, however much is pruned."""
    X, y = documents(250, 120, 70, seed=1)
    found = kernel_vectors(_native.label_vectors, X, y, prune, n_threads)
    np.testing.assert_allclose(found, label_vectors(X, y, prune), rtol=1e-5, atol=1e-7)
    found = kernel_vectors(_native.cooccurrence_vectors, X, y, prune, n_threads)
    np.testing.assert_allclose(found, cooccurrence_vectors(y, prune), rtol=1e-5, atol=1e-7)


def test_what_is_pruned_by_hand() -> None:
    X = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 5.0]])
    y = np.eye(2, dtype=np.int8)
    for prune, expected in ((0.59, [0.6, -0.8, 0]), (0.61, [0, -1, 0]), (0.9, [0, -1, 0])):
        found = kernel_vectors(_native.label_vectors, X, y, prune, 1)
        np.testing.assert_allclose(found, [expected, [0, 0, 1]], rtol=1e-6)

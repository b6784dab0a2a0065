"""The vectors by which labels are clustered, as their twin computes them."""

from __future__ import annotations

import gc
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from tests.documents import documents
from tests.reference.clustering import cooccurrence_vectors, label_vectors

from labeltree import _native
from labeltree.labels.reading import read_labels
from labeltree.validation import check_features

pytestmark = pytest.mark.native


def examples_of(X: Any, y: Any, sample_weight: Any = None) -> _native.Examples:
    labels = read_labels(sp.csr_matrix(y))
    features = check_features(BaseEstimator(), sp.csr_matrix(X), normalize=True, reset=True)
    return _native.Examples(features, labels.indptr, labels.indices, labels.n_labels, sample_weight)


def kernel_vectors(make: Any, X: Any, y: Any, prune: float, n_threads: int) -> Any:
    vectors = make(examples_of(X, y), prune, n_threads, _native.Progress())
    indptr, indices, data = vectors.arrays()
    return sp.csr_matrix((data, indices, indptr), shape=(y.shape[1], vectors.n_features)).toarray()


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


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1]), st.integers(1, 3), st.booleans())
@settings(max_examples=30)
def test_ranges_of_labels_make_the_whole(seed: int, prune: float, n_threads: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_labels = rng.integers(1, 40), int(rng.integers(1, 20))
    X = sp.random(n_rows, 9, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    y = sp.csr_matrix(rng.random((n_rows, n_labels)) < 0.2)
    weight = rng.random(n_rows).astype(np.float32) if weighted else None
    examples = examples_of(X, y, weight)
    cuts = [0, *sorted(rng.integers(0, n_labels + 1, 2).tolist()), -1]

    def join(first: Any, second: Any, *how: Any) -> Any:
        return _native.join_vectors(first(*how), second(*how))

    features, labels = _native.label_vectors, _native.cooccurrence_vectors
    for make in (features, labels, partial(join, features, labels)):
        whole = make(examples, prune, 1, _native.Progress())
        parts = [make(examples, prune, n_threads, _native.Progress(), a, b) for a, b in pairwise(cuts)]
        assert {part.n_features for part in parts} == {whole.n_features}
        begins, indices, data = zip(*(part.arrays() for part in parts), strict=True)
        sizes = np.concatenate([np.diff(begin) for begin in begins])
        np.testing.assert_array_equal(sizes, np.diff(whole.arrays()[0]))
        np.testing.assert_array_equal(np.concatenate(indices), whole.arrays()[1])
        np.testing.assert_array_equal(np.concatenate(data), whole.arrays()[2])


@pytest.mark.parametrize(("first", "last"), [(-1, 2), (2, 1), (0, 4), (4, 4), (4, -1), (0, -2), (2**40, -1)])
def test_ranges_that_are_none(first: int, last: int) -> None:
    examples = examples_of(np.eye(3), np.eye(3))
    for make in (_native.label_vectors, _native.cooccurrence_vectors):
        with pytest.raises(ValueError, match=rf"from 0 to 3, or -1 .*, got {first} and {last}"):
            make(examples, 0.0, 1, _native.Progress(), first, last)


def test_arrays_outlive_their_vectors() -> None:
    indptr, indices, data = _native.label_vectors(
        examples_of(np.eye(3), np.eye(3)), 0.0, 1, _native.Progress()
    ).arrays()
    gc.collect()
    assert (indptr.tolist(), indices.tolist(), data.tolist()) == ([0, 1, 2, 3], [0, 1, 2], [1, 1, 1])

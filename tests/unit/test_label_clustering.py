"""Trees by k-means: as their twin makes them, and what holds for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from tests.documents import documents
from tests.reference.clustering import (
    Clustering,
    cooccurrence_vectors,
    joined_vectors,
    label_vectors,
    unit,
)

from labeltree import LabelTree, _native
from labeltree.labels.reading import read_labels
from labeltree.trees.label_vectors import given_vectors
from labeltree.validation import check_features

pytestmark = pytest.mark.native


def kernel_tree(
    X: Any,
    y: Any,
    how: Clustering,
    prune: float = 0.0,
    sample_weight: Any = None,
    n_threads: int = 1,
    label_vectors: Any = "features",
) -> LabelTree:
    labels = read_labels(sp.csr_matrix(y))
    options = _native.ClusteringOptions(
        arity=how.arity,
        max_leaves=how.max_leaves,
        max_depth=how.max_depth or 0,
        frequent_share=how.frequent_share,
        balanced=how.balanced,
        even_levels=how.even_levels,
        first_sample=how.first_sample,
        sample=how.sample,
        max_iter=how.max_iter,
        eps=how.eps,
        seed=how.seed,
        n_threads=n_threads,
    )
    examples = _native.Examples(
        check_features(BaseEstimator(), sp.csr_matrix(X), normalize=True, reset=True),
        labels.indptr,
        labels.indices,
        labels.n_labels,
        None if sample_weight is None else sample_weight.astype(np.float32),
    )
    vectors = kernel_vectors(label_vectors, prune, examples, n_threads)
    return LabelTree(*_native.cluster_labels(vectors, examples, options, _native.Progress()))


def kernel_vectors(label_vectors: Any, prune: float, examples: _native.Examples, n_threads: int) -> Any:
    """Return label vectors as the kernel computes them."""
    if not isinstance(label_vectors, str):
        return given_vectors(label_vectors)
    how = (examples, prune, n_threads, _native.Progress())
    if label_vectors == "both":
        return _native.join_vectors(_native.label_vectors(*how), _native.cooccurrence_vectors(*how))
    return (_native.label_vectors if label_vectors == "features" else _native.cooccurrence_vectors)(*how)


WAYS = [
    Clustering(arity=2, max_leaves=1),
    Clustering(arity=2, max_leaves=5),
    Clustering(arity=3, max_leaves=4, seed=1),
    Clustering(arity=16, max_leaves=3, seed=2),
    Clustering(arity=33, max_leaves=1, seed=3),
    Clustering(arity=4, max_leaves=5, max_depth=2),
    Clustering(arity=3, max_leaves=4, balanced=False),
    Clustering(arity=16, max_leaves=5, balanced=False, seed=4),
    Clustering(arity=8, max_leaves=2, balanced=False, max_depth=2),
    Clustering(arity=4, max_leaves=2, max_depth=2, seed=3),
    Clustering(arity=6, max_leaves=1, max_depth=3, seed=4),
    Clustering(arity=5, max_leaves=8, seed=5, first_sample=2, sample=8, max_iter=3),
    Clustering(arity=3, max_leaves=4, seed=6, first_sample=1, sample=4),
    Clustering(arity=8, max_leaves=4, balanced=False, seed=7, first_sample=2, sample=4),
    Clustering(arity=4, max_leaves=4, seed=8, frequent_share=0.1),
    Clustering(arity=3, max_leaves=1, seed=9, frequent_share=0.03, first_sample=2, sample=4),
    Clustering(arity=4, max_leaves=4, balanced=False, seed=10, frequent_share=0.05),
    Clustering(arity=3, max_leaves=4, even_levels=False, seed=11),
    Clustering(arity=16, max_leaves=3, even_levels=False, seed=12),
    Clustering(arity=33, max_leaves=1, even_levels=False, seed=13),
    Clustering(arity=8, max_leaves=2, even_levels=False, max_depth=2),
    Clustering(
        arity=5, max_leaves=8, even_levels=False, seed=14, frequent_share=0.05, first_sample=2, sample=8
    ),
]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_the_kernel_builds_the_same_tree_as_its_twin(how: Clustering) -> None:
    X, y = documents(250, 120, 70, seed=1)
    for prune in (0.0, 0.1):
        expected = how.tree(label_vectors(X, y, prune), y)
        found = kernel_tree(X, y, how, prune)
        assert found.to_nested() == expected.to_nested()


def test_weights_of_examples_weigh_in_label_vectors() -> None:
    X, y = documents(250, 120, 70, seed=1)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 4.0], size=250)
    how = Clustering(arity=4, max_leaves=4)
    found = kernel_tree(X, y, how, 0.05, weight)
    assert found.to_nested() == how.tree(label_vectors(X, y, 0.05, weight), y).to_nested()
    assert found != kernel_tree(X, y, how, 0.05)


@pytest.mark.parametrize("how", WAYS[2:9:2] + WAYS[14:], ids=str)
@pytest.mark.parametrize("prune", [0.0, 0.1])
def test_every_kind_of_label_vectors_as_its_twin(how: Clustering, prune: float) -> None:
    X, y = documents(250, 120, 70, seed=1)
    weight = np.random.default_rng(0).random(250).astype(np.float32)  # without, counts would often be equal
    together = cooccurrence_vectors(y, prune, weight)
    both = joined_vectors(label_vectors(X, y, prune, weight), together)
    trees = {
        kind: kernel_tree(X, y, how, prune, weight, label_vectors=kind) for kind in ("cooccurrence", "both")
    }
    assert trees["cooccurrence"].to_nested() == how.tree(together, y).to_nested()
    assert trees["both"].to_nested() == how.tree(both, y).to_nested()
    assert kernel_tree(X, y, how, prune, weight, 3, "both") == trees["both"]
    assert len({tree.to_json() for tree in [*trees.values(), kernel_tree(X, y, how, prune, weight)]}) == 3


@pytest.mark.parametrize("how", [WAYS[3], WAYS[7], WAYS[14]], ids=str)
def test_given_label_vectors_as_their_twin(how: Clustering) -> None:
    X, y = documents(250, 120, 70, seed=1)
    vectors = np.random.default_rng(0).normal(size=(70, 9)).astype(np.float32)
    vectors[[3, 50]] = 0  # these go where there is room
    expected = how.tree(np.array([unit(v) for v in vectors.astype(np.float64)]), y).to_nested()
    for kind in (np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array):
        # Pruning is for what is computed.
        assert kernel_tree(X, y, how, 0.5, label_vectors=kind(vectors)).to_nested() == expected
        assert kernel_tree(X, y, how, label_vectors=kind(vectors), n_threads=2).to_nested() == expected
    doubles = kernel_tree(X, y, how, label_vectors=sp.csr_matrix(vectors.astype(np.float64)))
    assert doubles.to_nested() == expected


def test_labels_that_have_nothing_in_common_are_spread_evenly() -> None:
    """In one cluster with all the others they would make a tree of 50 levels."""
    alone = sp.identity(400, format="csr", dtype=np.float32)
    how = Clustering(arity=8, max_leaves=10, balanced=False, sample=1, first_sample=1)
    tree = kernel_tree(alone, alone, how)
    assert tree.depth == 3
    assert tree.to_nested() == how.tree(np.eye(400), alone).to_nested()


def test_labels_with_vectors_but_without_examples_are_clustered() -> None:
    """None of them is frequent, though all of none is none."""
    X, y = documents(100, 60, 4, seed=3)
    wide = sp.hstack([y, sp.csr_matrix((100, 60))]).tocsr()
    topic = np.arange(64) % 2
    vectors = np.eye(2)[topic] + np.random.default_rng(0).random((64, 2)) / 100
    tree = kernel_tree(X, wide, Clustering(arity=2, max_leaves=8, frequent_share=0.01), label_vectors=vectors)
    assert sorted(tree.label[list(tree.children(0))].tolist()) == [-1, -1, 0, 1, 2, 3]
    for child in tree.children(0):
        assert len(set(topic[tree.labels_under(child)])) == 1


@given(
    st.integers(1, 40),
    st.builds(
        Clustering,
        arity=st.integers(2, 40),
        max_leaves=st.integers(1, 12),
        balanced=st.booleans(),
        even_levels=st.booleans(),
        max_depth=st.none() | st.integers(1, 4),
        first_sample=st.sampled_from([1, 3, 128]),
        sample=st.sampled_from([2, 5, 2048]),
        seed=st.integers(0, 2**31 - 2),
    ),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_what_holds_for_every_tree(n_labels: int, how: Clustering, data_seed: int) -> None:
    rng = np.random.default_rng(data_seed)
    n_rows = int(rng.integers(1, 60))
    X = sp.random(n_rows, 15, 0.3, "csr", np.float32, rng, data_rvs=lambda n: rng.normal(size=n) + 1)
    y = sp.csr_matrix(rng.random((n_rows, n_labels)) < 0.1)
    tree = kernel_tree(X, y, how)  # LabelTree checks that every label has exactly one leaf
    assert tree.n_labels == n_labels
    assert how.max_depth is None or tree.depth <= how.max_depth
    seen = label_vectors(X, y, 0.0).any(axis=1)
    for v in tree.inner_nodes:
        parts = [tree.labels_under(c) for c in tree.children(v)]
        if all(len(part) == 1 for part in parts):
            continue  # its children are the labels themselves
        assert len(parts) <= how.arity
        assert len(tree.labels_under(v)) > how.max_leaves
        if how.balanced:
            n_seen = [int(seen[part].sum()) for part in parts]
            assert max(n_seen) - min(n_seen) <= 1
            if not all(seen[tree.labels_under(v)]):
                sizes = [len(part) for part in parts]
                assert max(sizes) - min(sizes) <= 1
        if how.balanced and not how.even_levels:
            assert len(parts) == min(how.arity, len(tree.labels_under(v)))
    if how.balanced and how.max_depth is None:
        preleaves = [v for v in tree.inner_nodes if tree.is_leaf[list(tree.children(v))].all()]
        assert all(len(tree.children(v)) <= max(how.max_leaves, how.arity) for v in preleaves)
    assert kernel_tree(X, y, how, n_threads=3) == tree


@pytest.mark.parametrize("balanced", [True, False])
def test_labels_of_one_topic_stay_together(balanced: bool) -> None:
    """Four topics that share no word: the first split finds them, whatever the seed, if it starts from each."""
    rng = np.random.default_rng(0)
    topic = np.arange(40) % 4
    X = np.zeros((200, 80), dtype=np.float32)
    for i in range(200):
        words = topic[i % 40] * 20 + rng.choice(20, size=8, replace=False)
        X[i, words] = rng.random(8) + 0.5
    y = np.eye(40)[np.arange(200) % 40]
    pure = 0
    for seed in range(40):
        tree = kernel_tree(X, y, Clustering(arity=4, max_leaves=10, balanced=balanced, seed=seed))
        starts_well = (
            4 * 3 * 2 * 10**4 / (40 * 39 * 38 * 37)
        )  # the chance that the random centroids have all topics
        pure += all(len(set(topic[tree.labels_under(c)].tolist())) == 1 for c in tree.children(0))
    assert pure >= 40 * starts_well / 2


def test_seeds_differ_and_threads_do_not() -> None:
    X, y = documents(250, 120, 70, seed=2)
    how = Clustering(arity=3, max_leaves=4)
    trees = {kernel_tree(X, y, replace(how, seed=seed)).to_json() for seed in range(6)}
    assert len(trees) == 6
    assert kernel_tree(X, y, how, n_threads=2) == kernel_tree(X, y, how)


@pytest.mark.parametrize("balanced", [True, False])
def test_large_nodes_are_split_by_several_threads_alike(balanced: bool) -> None:
    rng = np.random.default_rng(0)
    n = 20_000  # labels; more than are assigned by one thread at a time
    common = n + rng.integers(0, 3, n)
    y = sp.csr_matrix((np.ones(2 * n), np.c_[common, rng.permutation(n)].ravel(), np.arange(0, 2 * n + 1, 2)))
    X = sp.random(n, 50, 0.1, "csr", np.float32, rng)
    how = Clustering(
        arity=5, max_leaves=200, balanced=balanced, frequent_share=0.1, first_sample=8, sample=32
    )
    expected = kernel_tree(X, y, how)
    for n_threads in (2, 3):
        assert kernel_tree(X, y, how, n_threads=n_threads) == expected


def test_labels_without_examples_are_spread_evenly() -> None:
    X, y = documents(100, 60, 20, seed=3)
    wide = sp.hstack([y, sp.csr_matrix((100, 45))]).tocsr()
    tree = kernel_tree(X, wide, Clustering(arity=4, max_leaves=5))
    sizes = [len(tree.labels_under(c)) for c in tree.children(0)]
    assert sum(sizes) == 65
    assert max(sizes) - min(sizes) <= 1


def test_labels_that_are_all_alike_still_make_a_tree() -> None:
    X, y = np.ones((30, 2)), np.eye(30)
    tree = kernel_tree(X, y, Clustering(arity=2, max_leaves=4))
    assert tree.depth == 4
    flat = kernel_tree(X, y, Clustering(arity=2, max_leaves=4, balanced=False))
    assert flat == LabelTree.flat(30)

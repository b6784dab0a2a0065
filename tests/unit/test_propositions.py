"""What the paper proves, on exact distributions and on models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.kernel import kernel_probabilities, positive_rows, threshold_search_cost
from tests.reference.search import node_marginals
from tests.strategies import label_rows, label_trees, models_and_rows

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

EPS = 1e-5  # of float32 sums


@st.composite
def exact_distributions(draw: st.DrawFn) -> tuple[LabelTree, NDArray[np.float64], NDArray[np.float64]]:
    """A tree, and a distribution of label vectors: all vectors, and the probability of each."""
    tree = draw(label_trees(max_labels=6))
    vectors = np.array(np.meshgrid(*[[0, 1]] * tree.n_labels, indexing="ij")).reshape(tree.n_labels, -1).T
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = rng.dirichlet(np.full(len(vectors), draw(st.sampled_from([0.05, 0.5, 5.0]))))
    return tree, vectors, P


def exact_node_probabilities(
    tree: LabelTree, vectors: NDArray[np.float64], P: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """eta(x, v) = P(z_v = 1 | z_parent = 1) and eta_v(x) = P(z_v = 1) of all nodes, by enumeration."""
    z = np.array([vectors[:, tree.labels_under(v)].any(axis=1) for v in range(tree.n_nodes)])
    marginal = z @ P
    of_parent = np.concatenate([[1.0], marginal[tree.parent[1:]]])
    return np.divide(marginal, of_parent, out=np.ones(tree.n_nodes), where=of_parent > 0), marginal


def assert_bounds_of_parents(
    tree: LabelTree, eta: NDArray[np.float64], marginal: NDArray[np.float64], eps: float
) -> None:
    """Proposition 1: children's conditional probabilities sum to 1 or more, and bound their parent's marginal."""
    for v in tree.inner_nodes:
        children = list(tree.children(v))
        assert eta[children].sum() >= 1 - eps
        assert marginal[children].max() <= marginal[v] + eps
        assert marginal[v] <= min(1, marginal[children].sum()) + eps


@given(exact_distributions())
def test_exact_distributions_factorize_along_paths(
    drawn: tuple[LabelTree, NDArray[np.float64], NDArray[np.float64]],
) -> None:
    tree, vectors, P = drawn
    eta, marginal = exact_node_probabilities(tree, vectors, P)
    assert_bounds_of_parents(tree, eta, marginal, 1e-9)
    # A model whose nodes say eta(x, v) gives P(y_j = 1 | x), whatever the tree; normalisation has nothing to do.
    weights = tree_weights(tree, np.zeros((tree.n_nodes, 1), dtype=np.float32), 2 * eta - 1)
    for normalize_siblings in (False, True):
        model = hand_made_classifier([weights], 1, "clip", normalize_siblings=normalize_siblings)
        labels = np.arange(tree.n_labels)
        found = model.predict_pairs(np.ones((1, 1)), np.zeros(tree.n_labels, dtype=int), labels)
        np.testing.assert_allclose(found, vectors.T @ P, rtol=1e-4, atol=1e-6)


@given(models_and_rows(normalize_siblings=True))
def test_normalized_estimates_satisfy_the_bounds(
    drawn: tuple[LabelTreeClassifier, NDArray[np.float32]],
) -> None:
    model, X = drawn
    for i in range(len(X)):
        eta = kernel_probabilities(model, X, i).astype(np.float64)
        assert_bounds_of_parents(model.tree_, eta, node_marginals(model.tree_, eta), EPS)


@given(label_trees(), st.data())
def test_cost_of_training(tree: LabelTree, data: st.DataObject) -> None:
    """Proposition 2: c(T, y) = 1 + sum of z_parent <= 1 + |y| * depth * degree."""
    rows = data.draw(label_rows(tree.n_labels))
    found = positive_rows(tree, rows, 1)
    for i, labels in enumerate(rows):
        cost = 1 + sum(i in found[tree.parent[v]] for v in range(1, tree.n_nodes))
        assert cost <= 1 + len(labels) * tree.depth * tree.arity


@given(models_and_rows(normalize_siblings=True), st.floats(2**-7, 1, width=32))
def test_cost_of_threshold_search(drawn: tuple[LabelTreeClassifier, NDArray[np.float32]], tau: float) -> None:
    """Theorem 1: with normalised estimates no more than 1 + floor(P / tau) * depth * degree nodes are asked."""
    model, X = drawn
    tree = model.tree_
    costs = threshold_search_cost(model, X, tau, None)
    P = model.predict_proba(X, top_k=None).sum(axis=1, dtype=np.float64)
    for total, cost in zip(np.asarray(P).ravel(), costs, strict=True):
        assert cost <= 1 + math.floor(total / tau * (1 + EPS) + EPS) * tree.depth * tree.arity

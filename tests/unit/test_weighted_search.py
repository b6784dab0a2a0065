"""The k labels that are worth most, by weight times probability: brute force over all labels finds the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernel import kernel_probabilities
from tests.reference.search import label_marginals, node_marginals
from tests.reference.weighted_search import (
    assert_worthiest,
    beam_by_worth,
    best_by_worth,
    largest_below,
    worths,
)
from tests.strategies import label_weights, models_and_rows

from labeltree import LabelTreeClassifier
from labeltree.exchange import GuidedSearch

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]


def exact_marginals(model: LabelTreeClassifier, X: NDArray[np.float32], tree: int = 0) -> NDArray[np.float32]:
    rows = range(len(X))
    return np.array(
        [label_marginals(model.trees_[tree], kernel_probabilities(model, X, i, tree)) for i in rows]
    )


@given(models_and_rows(), st.integers(1, 14), st.data())
def test_brute_force_finds_the_same(drawn: Drawn, k: int, data: st.DataObject) -> None:
    model, X = drawn
    n_labels = model.tree_.n_labels
    weight = data.draw(label_weights(n_labels))
    marginals = exact_marginals(model, X)
    threshold = data.draw(
        st.just(0.0) | st.floats(0, 1, width=32) | st.sampled_from(marginals.ravel().tolist())
    )
    allow = data.draw(st.none() | st.sets(st.integers(0, n_labels - 1)))
    labels, probabilities = model.predict_topk(X, k, label_weight=weight, threshold=threshold, allow=allow)
    assert labels.shape == probabilities.shape == (len(X), min(k, n_labels))
    for i, p in enumerate(marginals):
        allowed = (
            p if allow is None else np.where(np.isin(np.arange(n_labels), list(allow)), p, np.float32(-1))
        )
        expected = best_by_worth(weight, allowed, k, threshold)
        assert_worthiest(labels[i], probabilities[i], expected, worths(weight, p), p)


@settings(max_examples=40)
@given(models_and_rows(), st.integers(1, 14), st.data())
def test_no_node_is_asked_in_vain(drawn: Drawn, k: int, data: st.DataObject) -> None:
    """Only below nodes whose bound is not below the worth of the k-th label, which any exact search must look at."""
    model, X = drawn
    tree = model.tree_
    weight = data.draw(label_weights(tree.n_labels))
    labels, _, evaluations = model.predict_topk(X, k, label_weight=weight, return_evaluations=True)
    largest = largest_below(tree, weight)[tree.inner_nodes]
    degree = np.diff(tree.child_begin)[tree.inner_nodes]
    for i, count in enumerate(evaluations):
        eta = kernel_probabilities(model, X, i)
        bound = largest * node_marginals(tree, eta)[tree.inner_nodes]
        worth = worths(weight, label_marginals(tree, eta))
        kth = worth[labels[i, -1]] if k <= tree.n_labels else -1
        assert 1 + degree[bound > kth].sum() <= count <= 1 + degree[bound >= kth].sum()


@settings(max_examples=40)
@given(models_and_rows(), st.integers(1, 14), st.none() | st.integers(1, 3))
def test_equal_weights_change_nothing(drawn: Drawn, k: int, beam: int | None) -> None:
    model, X = drawn
    if beam is not None:
        model.set_params(search="beam", beam=beam)
    plain = model.predict_topk(X, k, return_evaluations=True)
    # A power of two: any other could make two products equal.
    weighted = model.predict_topk(
        X, k, label_weight=np.full(model.tree_.n_labels, 0.25), return_evaluations=True
    )
    for found, expected in zip(weighted, plain, strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(max_examples=40)
@given(models_and_rows(), st.integers(1, 14), st.integers(1, 4), st.data())
def test_a_beam_follows_the_largest_bounds(drawn: Drawn, k: int, beam: int, data: st.DataObject) -> None:
    model, X = drawn
    model.set_params(search="beam", beam=beam)
    weight = data.draw(label_weights(model.tree_.n_labels))
    labels, probabilities, evaluations = model.predict_topk(
        X, k, label_weight=weight, return_evaluations=True
    )
    for i, p in enumerate(exact_marginals(model, X)):
        expected, cost = beam_by_worth(model.tree_, kernel_probabilities(model, X, i), weight, k, beam)
        assert_worthiest(labels[i], probabilities[i], expected, worths(weight, p), p)
        assert evaluations[i] == cost


@settings(max_examples=40)
@given(models_and_rows(n_trees=st.integers(2, 4)), st.integers(1, 14), st.data())
def test_without_missing_estimates_trees_propose_what_is_worth_most_to_them(
    drawn: Drawn, k: int, data: st.DataObject
) -> None:
    """Of the labels that reach the threshold in the tree; the threshold then applies to the averages."""
    model, X = drawn
    model.set_params(missing_estimates="zero")
    n_labels = model.tree_.n_labels
    weight = data.draw(label_weights(n_labels))
    threshold = data.draw(st.just(0.0) | st.floats(0, 1, width=32))
    labels, probabilities = model.predict_topk(X, k, label_weight=weight, threshold=threshold)
    of_trees = np.array([exact_marginals(model, X, t) for t in range(len(model.trees_))])
    tree_weight = np.ones(len(of_trees)) if model.tree_weight is None else np.array(model.tree_weight)
    for i in range(len(X)):
        proposed = np.zeros((len(of_trees), n_labels), dtype=bool)
        for t, p in enumerate(of_trees[:, i]):
            proposed[t, best_by_worth(weight, p, k, threshold)] = True
        counted = of_trees[:, i] * proposed
        total = sum(w * p.astype(np.float64) for w, p in zip(tree_weight, counted, strict=True))
        average = (total / sum(tree_weight)).astype(np.float32)
        candidates = np.where(proposed.any(axis=0), average, np.float32(-1))
        expected = best_by_worth(weight, candidates, k, threshold)
        # Of labels worth nothing a tree may propose any, also such as are worth something to others.
        worst = [
            worths(weight, p)[best_by_worth(weight, p, k, threshold)].min(initial=1) for p in of_trees[:, i]
        ]
        if min(worst) > 0:
            assert_worthiest(labels[i], probabilities[i], expected, worths(weight, average), average)


@settings(max_examples=40)
@given(models_and_rows(), st.integers(1, 14), st.none() | st.integers(1, 4), st.data())
def test_guided_search_finds_what_the_kernel_finds(
    drawn: Drawn, k: int, beam: int | None, data: st.DataObject
) -> None:
    model, X = drawn
    tree = model.tree_
    weight = data.draw(label_weights(tree.n_labels))
    threshold = data.draw(st.just(0.0) | st.floats(0, 1, width=32))
    model.set_params(search="exact" if beam is None else "beam", beam=beam or 1, normalize_siblings=False)
    eta = np.stack([kernel_probabilities(model, X, i) for i in range(len(X))])
    search = GuidedSearch(tree, len(X), k, beam=beam, threshold=threshold, label_weight=weight)
    found = search.run(lambda wanted: eta[wanted.row, wanted.node]).top_labels()
    expected = model.predict_topk(X, k, label_weight=weight, threshold=threshold, return_evaluations=True)
    np.testing.assert_array_equal(found.labels, expected[0])
    np.testing.assert_array_equal(found.probabilities, expected[1])
    np.testing.assert_array_equal(search.n_evaluations, expected[2])

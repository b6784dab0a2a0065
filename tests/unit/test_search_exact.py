"""Exact search in one tree: every way of asking agrees with brute force and with the paper's algorithms."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.documents import documents
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.kernel import kernel_probabilities, threshold_search_cost
from tests.reference.search import (
    label_marginals,
    node_marginals,
    node_probabilities,
    predict_top_labels,
    predict_with_thresholds,
)
from tests.strategies import models_and_rows

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]


def exact_marginals(model: LabelTreeClassifier, X: NDArray[np.float32]) -> NDArray[np.float32]:
    """P(label | x) for all rows and labels: brute force, with the kernel's own probabilities of nodes."""
    rows = range(len(X))
    return np.array([label_marginals(model.tree_, kernel_probabilities(model, X, i)) for i in rows])


def assert_best(
    labels: NDArray[np.int64], probabilities: NDArray[np.float32], p: NDArray[np.float32], k: int
) -> None:
    """The k best of p, best first. Among equal ones any may be the last; they are in the order of labels."""
    best = np.sort(p)[::-1][:k]
    np.testing.assert_array_equal(probabilities[: len(best)], best)
    np.testing.assert_array_equal(p[labels[: len(best)]], best)
    assert len(set(labels[: len(best)].tolist())) == len(best)
    pairs = list(zip(-probabilities[: len(best)], labels[: len(best)], strict=True))
    assert pairs == sorted(pairs)
    assert (labels[len(best) :] == -1).all()
    assert (probabilities[len(best) :] == 0).all()


@given(models_and_rows())
def test_probabilities_of_pairs_are_products_along_paths(drawn: Drawn) -> None:
    model, X = drawn
    n_rows, n_labels = len(X), model.tree_.n_labels
    rows, labels = np.divmod(np.arange(n_rows * n_labels)[::-1], n_labels)
    found = model.predict_pairs(X, rows, labels)[::-1].reshape(n_rows, n_labels)
    np.testing.assert_array_equal(found, exact_marginals(model, X))
    for x, p in zip(X.astype(np.float64), found, strict=True):
        eta = node_probabilities(model.weights_[0], x, model.link, model.normalize_siblings)
        np.testing.assert_allclose(p, label_marginals(model.tree_, eta), rtol=1e-4, atol=1e-6)


@given(models_and_rows(), st.integers(1, 14))
def test_the_k_best(drawn: Drawn, k: int) -> None:
    model, X = drawn
    labels, probabilities = model.predict_topk(X, k)
    assert labels.shape == probabilities.shape == (len(X), min(k, model.tree_.n_labels))
    for found, likely, p in zip(labels, probabilities, exact_marginals(model, X), strict=True):
        assert_best(found, likely, p, k)


@given(models_and_rows(), st.integers(1, 14))
def test_cost_of_the_k_best(drawn: Drawn, k: int) -> None:
    """Search asks no more node classifiers than algorithm 4, except nodes as probable as the k-th label."""
    model, X = drawn
    tree = model.tree_
    _, probabilities, evaluations = model.predict_topk(X, k, return_evaluations=True)
    for i, count in enumerate(evaluations):
        eta = kernel_probabilities(model, X, i)
        marginal = node_marginals(tree, eta)[tree.inner_nodes]
        degree = np.diff(tree.child_begin)[tree.inner_nodes]
        kth = probabilities[i, -1] if k <= tree.n_labels else -1
        least, most = 1 + degree[marginal > kth].sum(), 1 + degree[marginal >= kth].sum()
        assert least <= count <= most
        _, literal = predict_top_labels(tree, eta, k)
        if least == most:
            assert count == literal


@given(models_and_rows(), st.integers(1, 14), st.data())
def test_the_k_best_above_a_threshold(drawn: Drawn, k: int, data: st.DataObject) -> None:
    model, X = drawn
    marginals = exact_marginals(model, X)
    # Thresholds that are hit exactly are the hard ones.
    threshold = data.draw(st.floats(0, 1, width=32) | st.sampled_from(marginals.ravel().tolist()))
    labels, probabilities = model.predict_topk(X, k, threshold=threshold)
    for found, likely, p in zip(labels, probabilities, marginals, strict=True):
        there = found >= 0
        expected = np.sort(p[p >= np.float32(threshold)])[::-1][:k]
        np.testing.assert_array_equal(likely[there], expected)
        np.testing.assert_array_equal(p[found[there]], expected)


@given(models_and_rows(), st.data())
def test_all_above_a_threshold(drawn: Drawn, data: st.DataObject) -> None:
    model, X = drawn
    marginals = exact_marginals(model, X)
    threshold = data.draw(st.floats(0, 1, width=32) | st.sampled_from(marginals.ravel().tolist()))
    tau = np.full(model.tree_.n_labels, threshold, dtype=np.float32)
    found = model.predict_proba(X, top_k=None, threshold=threshold)
    assert_above(model, X, marginals, tau, found, threshold_search_cost(model, X, threshold, None))


@given(models_and_rows(), st.data())
def test_all_above_a_threshold_for_each_label(drawn: Drawn, data: st.DataObject) -> None:
    model, X = drawn
    marginals = exact_marginals(model, X)
    thresholds = st.floats(0, 1, width=32) | st.sampled_from(marginals.ravel().tolist())
    n_labels = model.tree_.n_labels
    tau = np.array(data.draw(st.lists(thresholds, min_size=n_labels, max_size=n_labels)), dtype=np.float32)
    found = model.predict_proba(X, top_k=None, threshold=tau)
    assert_above(model, X, marginals, tau, found, threshold_search_cost(model, X, 0.0, tau))
    best = model.predict_proba(X, top_k=2, threshold=tau)
    for i, p in enumerate(marginals):
        expected = np.sort(p[p >= tau])[::-1][:2]
        np.testing.assert_array_equal(np.sort(best[[i]].data)[::-1], expected)


def assert_above(
    model: LabelTreeClassifier,
    X: NDArray[np.float32],
    marginals: NDArray[np.float32],
    tau: NDArray[np.float32],
    found: object,
    evaluations: NDArray[np.int64],
) -> None:
    for i, p in enumerate(marginals):
        row = found[[i]]  # type: ignore[index] # a sparse matrix
        expected, cost = predict_with_thresholds(model.tree_, kernel_probabilities(model, X, i), tau)
        assert dict(zip(row.indices.tolist(), row.data, strict=True)) == expected
        assert set(expected) == set(np.flatnonzero(p >= tau).tolist())
        assert evaluations[i] == cost


@given(models_and_rows())
def test_labels_one_by_one(drawn: Drawn) -> None:
    model, X = drawn
    for i, p in enumerate(exact_marginals(model, X)):
        labels, probabilities = map(np.array, zip(*model.iter_labels(X[[i]]), strict=True))
        assert sorted(labels.tolist()) == list(range(model.tree_.n_labels))
        np.testing.assert_array_equal(probabilities.astype(np.float32), np.sort(p)[::-1])
        np.testing.assert_array_equal(p[labels], np.sort(p)[::-1])


@given(models_and_rows(), st.integers(1, 14), st.data())
def test_masks(drawn: Drawn, k: int, data: st.DataObject) -> None:
    model, X = drawn
    everything = st.sets(st.integers(0, model.tree_.n_labels - 1))
    allow, deny = data.draw(st.none() | everything), data.draw(st.none() | everything)
    allowed = (set(range(model.tree_.n_labels)) if allow is None else allow) - (deny or set())
    left = np.array(sorted(allowed), dtype=int)
    labels, probabilities = model.predict_topk(X, k, allow=allow, deny=deny)
    for i, p in enumerate(exact_marginals(model, X)):
        n = min(k, len(left))
        assert set(labels[i, :n].tolist()) <= allowed
        assert_best(labels[i], probabilities[i], np.where(np.isin(np.arange(len(p)), left), p, -1)[:], n)
        one_by_one = list(islice(model.iter_labels(X[[i]], allow=allow, deny=deny), n + 1))
        assert [q for _, q in one_by_one[:n]] == probabilities[i, :n].tolist()
        assert {label for label, _ in one_by_one} <= allowed
        assert len(one_by_one) == min(n + 1, len(left))


def test_a_trained_model() -> None:
    """The same on a real tree: trained, deep, and with rows of real weights."""
    X, y = documents(300, 200, 60, unlabelled=0.1)
    for parameters in ({}, {"loss": "logistic", "normalize_siblings": True}, {"link": "clip"}):
        model = LabelTreeClassifier(
            arity=3, max_leaves=4, frequent_share=0, random_state=0, **parameters
        ).fit(X, y)
        dense = X.toarray()
        marginals = exact_marginals(model, dense)
        unit = dense.astype(np.float64) / np.linalg.norm(dense.astype(np.float64), axis=1, keepdims=True)
        labels, probabilities, evaluations = model.predict_topk(X, k=5, return_evaluations=True)
        for i, p in enumerate(marginals):
            assert_best(labels[i], probabilities[i], p, 5)
        for i in range(0, 300, 30):
            link = model.trained_link()
            eta = node_probabilities(model.weights_[0], unit[i], link, model.normalize_siblings)
            np.testing.assert_allclose(marginals[i], label_marginals(model.tree_, eta), rtol=1e-3, atol=1e-5)
        # The point of trees: most of the nodes are never asked.
        assert evaluations.mean() < model.tree_.n_nodes * 2 / 3


def test_unary_nodes_and_ties() -> None:
    tree = LabelTree.from_nested([[[2]], [0, 1], 3])
    W = np.zeros((tree.n_nodes, 1), dtype=np.float32)
    model = hand_made_classifier([tree_weights(tree, W, np.full(tree.n_nodes, 1000))], 1, "sigmoid")
    labels, probabilities = model.predict_topk(np.ones((1, 1)), k=4)
    assert labels.tolist() == [[0, 1, 2, 3]]
    assert probabilities.tolist() == [[1, 1, 1, 1]]
    assert sorted(label for label, _ in model.iter_labels(np.ones((1, 1)))) == [0, 1, 2, 3]


def test_questions_about_labels_and_rows_that_are_not_there() -> None:
    X, y = documents(40, 20, 6)
    names = [[f"label {j}" for j in y[[i]].indices] for i in range(40)]
    model = LabelTreeClassifier(random_state=0).fit(X, names)
    for ask in (
        lambda: model.predict_topk(X, allow=["label 1", "nonsense"]),
        lambda: model.predict_topk(X, deny=["nonsense"]),
        lambda: model.predict_pairs(X, [0], ["nonsense"]),
        lambda: model.explain(X[0], "nonsense"),
        lambda: next(model.iter_labels(X[0], allow=["nonsense"])),
    ):
        with pytest.raises(ValueError, match="'nonsense' is not a label of this model"):
            ask()
    for rows in ([-1], [40], [0.5], ["a"]):
        with pytest.raises(ValueError, match="rows must be integers from 0 to 39"):
            model.predict_pairs(X, rows, ["label 1"])
    with pytest.raises(ValueError, match="of one length"):
        model.predict_pairs(X, [0, 1], ["label 1"])
    assert model.predict_pairs(X, [], []).shape == (0,)
    for ask in (lambda: next(model.iter_labels(X)), lambda: model.explain(X, "label 1")):
        with pytest.raises(ValueError, match="expected one row, got 40"):
            ask()
    assert model.predict_topk(X, k=3, allow=[]).labels.tolist() == [[None] * 3] * 40
    classes = LabelTreeClassifier(random_state=0).fit(X, (np.arange(40) % 3).astype(np.uint8))
    assert classes.predict_topk(X[0], k=3, deny=[1]).labels[0, 2] == -1

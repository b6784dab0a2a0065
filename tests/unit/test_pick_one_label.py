"""Pick-one-label: what it does to a distribution of label vectors, and what models learn of that."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from tests.reference import pick_one_label as reference
from tests.reference.known_distribution import KnownDistribution, best_precision, label_vectors
from tests.reference.softmax import pick_one_label
from tests.strategies import label_trees

from labeltree import HierarchicalSoftmaxClassifier, LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

#: So much weight of the examples that the penalty hardly counts.
PRECISE = {"C": 2000.0, "tol": 1e-4, "max_iter": 50_000, "prune": 0.0, "bias": False, "random_state": 0}

#: All trees of three labels.
TREES = [[[0, 1], 2], [[0, 2], 1], [[1, 2], 0], [0, 1, 2]]


def counter_example() -> KnownDistribution:
    """The paper's: label 1 with probability 0.1, labels 1 and 2 with 0.5, label 3 with 0.4."""
    joint = np.zeros((1, 8))
    joint[0, [0b001, 0b011, 0b100]] = [0.1, 0.5, 0.4]
    return KnownDistribution(joint)


@st.composite
def distributions(draw: st.DrawFn, max_labels: int = 6, min_labels: int = 2) -> KnownDistribution:
    """One or two kinds of rows with any dependence between their labels; none is always without."""
    n_labels, n_kinds = draw(st.integers(min_labels, max_labels)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = rng.dirichlet(np.full(2**n_labels, draw(st.sampled_from([0.05, 0.3, 2.0]))), size=n_kinds)
    P[:, -1] += 0.01
    return KnownDistribution(P / P.sum())


def regret(known: KnownDistribution, ranking: np.ndarray, k: int) -> np.ndarray:
    """What the first k labels of a ranking lose in precision at k, for every kind."""
    chosen = np.take_along_axis(known.eta, ranking[:, :k], axis=1).mean(axis=1)
    return np.array([best_precision(eta, k) for eta in known.eta]) - chosen


def by_probability(probabilities: np.ndarray) -> np.ndarray:
    return np.argsort(-probabilities, axis=1, kind="stable")


def exact_examples(known: KnownDistribution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A row for each kind and label vector, whose weight is its probability."""
    kind, vector = np.nonzero(known.joint)
    return np.eye(known.n_kinds)[kind], label_vectors(known.n_labels)[vector], known.joint[kind, vector]


def learned(
    model: LabelTreeClassifier | HierarchicalSoftmaxClassifier, known: KnownDistribution
) -> np.ndarray:
    """The probabilities that a model learns from the distribution itself, [kind][label]."""
    X, y, weight = exact_examples(known)
    model.fit(X, y, sample_weight=weight)
    kinds, labels = np.indices(known.eta.shape).reshape(2, -1)
    return model.predict_pairs(np.eye(known.n_kinds), kinds, labels).reshape(known.eta.shape)


def test_the_counter_example_is_what_the_paper_says() -> None:
    known = counter_example()
    np.testing.assert_allclose(known.eta, [[0.6, 0.5, 0.4]])
    np.testing.assert_allclose(reference.picked(known), [[0.35, 0.25, 0.4]])
    ranking = by_probability(reference.picked(known))
    assert ranking[0, 0] == 2
    assert regret(known, ranking, 1) == pytest.approx(0.2)


@pytest.mark.parametrize("nested", TREES, ids=str)
def test_label_trees_learn_marginals_and_softmax_what_is_picked(nested: list[object]) -> None:
    known, tree = counter_example(), LabelTree.from_nested(nested)
    label_tree = LabelTreeClassifier(tree=tree, loss="logistic", **PRECISE)
    np.testing.assert_allclose(learned(label_tree, known), [[0.6, 0.5, 0.4]], atol=3e-3)
    assert label_tree.predict_topk([[1.0]], 3).labels.tolist() == [[0, 1, 2]]
    softmax = HierarchicalSoftmaxClassifier(tree=tree, **PRECISE)
    np.testing.assert_allclose(learned(softmax, known), [[0.35, 0.25, 0.4]], atol=3e-3)
    ranking = softmax.predict_topk([[1.0]], 3).labels
    assert ranking.tolist() == [[2, 0, 1]]
    assert regret(known, ranking, 1) == pytest.approx(0.2)


def test_the_literal_reduction_makes_scikit_learn_rank_the_wrong_label_first() -> None:
    """Each example once for each of its labels, with weight 1 / (number of labels)."""
    X, y, weight = exact_examples(counter_example())
    row, label, share = pick_one_label(sp.csr_matrix(y), weight)
    model = LogisticRegression(C=1e5, tol=1e-8).fit(X[row], label, share)
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.35, 0.25, 0.4]], atol=1e-3)


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_independent_labels_keep_their_ranking(n_labels: int, n_kinds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = reference.independent(rng.uniform(0.02, 0.98, size=(n_kinds, n_labels)))
    picked = reference.picked(known)
    np.testing.assert_array_equal(by_probability(known.eta), by_probability(picked))
    for k in range(1, n_labels + 1):
        np.testing.assert_allclose(regret(known, by_probability(picked), k), 0, atol=1e-12)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=6))
def test_independent_labels_that_are_certain_or_as_probable(eta: list[float]) -> None:
    """Where labels tie, or some are always or never there, no order is turned round."""
    known = reference.independent(np.array([eta]))
    picked = reference.picked(known)[0]
    more_probable = np.subtract.outer(eta, eta) > 0
    assert (np.subtract.outer(picked, picked)[more_probable] > -1e-12).all()


def test_dependent_labels_often_lose_theirs() -> None:
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(16, 0.3), size=300)
    known = KnownDistribution(P / P.sum())
    lost = regret(known, by_probability(reference.picked(known)), 1)
    assert (lost >= 0).all()
    assert 0.05 < (lost > 0.02).mean() < 0.5
    assert lost.max() > 0.1


@given(distributions(max_labels=5), st.data())
def test_what_is_picked_most_is_best_for_recall(known: KnownDistribution, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, known.n_labels))
    chosen = by_probability(reference.picked(known))[:, :k]
    np.testing.assert_allclose(reference.recall(known, chosen), reference.best_recall(known, k), atol=1e-12)


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_of_one_label_there_is_nothing_to_pick(n_labels: int, seed: int) -> None:
    joint = np.zeros((2, 2**n_labels))
    joint[:, 2 ** np.arange(n_labels)] = np.random.default_rng(seed).dirichlet(np.ones(n_labels), size=2) / 2
    known = KnownDistribution(joint)
    np.testing.assert_allclose(reference.picked(known), known.eta)


@settings(max_examples=25)
@given(st.data())
def test_softmax_learns_what_is_picked_whatever_the_tree(data: st.DataObject) -> None:
    known = data.draw(distributions(max_labels=4))
    tree = data.draw(label_trees(known.n_labels, known.n_labels))
    softmax = HierarchicalSoftmaxClassifier(tree=tree, **PRECISE)
    expected = reference.given_labels(reference.picked(known))
    np.testing.assert_allclose(learned(softmax, known), expected, atol=0.02)

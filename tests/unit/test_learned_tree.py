"""Trees that are learned with the softmax: the rule that divides labels, and the trees that it makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import softmax
from tests.documents import documents

from labeltree import HierarchicalSoftmaxClassifier, LabelTreeClassifier
from labeltree.labels.reading import read_labels
from labeltree.model.feature_reader import FeatureReader
from labeltree.progress import Phases
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree
from labeltree.training.run import Run
from labeltree.trees import random_tree
from labeltree.trees.learned import assign_labels, child_probabilities, scaled_rows

pytestmark = pytest.mark.native


def objective(mass: NDArray[np.float64], probability: NDArray[np.float64]) -> float:
    """Jernite et al.'s objective of a node, without its constant factor."""
    mean = sum(m * p for m, p in zip(mass, probability, strict=True))
    return float(sum(m * np.abs(mean - p).sum() for m, p in zip(mass, probability, strict=True)))


def assign_one_by_one(
    mass: NDArray[np.float64], probability: NDArray[np.float64], room: list[int]
) -> list[int]:
    """Their algorithm 2 with slopes by finite differences: the pair with the largest slope, again and again."""
    step = 1e-9
    slope = np.empty_like(probability)
    for pair in np.ndindex(*probability.shape):
        up, down = probability.copy(), probability.copy()
        up[pair] += step
        down[pair] -= step
        slope[pair] = (objective(mass, up) - objective(mass, down)) / (2 * step)
    assume(
        np.diff(np.sort(slope, axis=None)).min() > 1e-6
    )  # which of two equal slopes comes first does not matter
    child, left = [-1] * len(mass), list(room)
    while min(child) < 0:
        pairs = [(i, j) for i, j in np.ndindex(*slope.shape) if child[i] < 0 and left[j] > 0]
        label, best = max(pairs, key=lambda pair: slope[pair])
        child[label] = best
        left[best] -= 1
    return child


@given(st.integers(3, 9), st.integers(2, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_labels_are_divided_as_published(n_labels: int, n_children: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.ones(n_labels))
    probability = softmax(rng.normal(size=(n_labels, n_children)), axis=1)
    room = [n_labels // n_children + (j < n_labels % n_children) for j in range(n_children)]
    found = assign_labels(mass, probability, room)
    assert found.tolist() == assign_one_by_one(mass, probability, room)
    assert np.bincount(found, minlength=n_children).tolist() == room


@pytest.mark.parametrize("arity", [2, 3])
def test_probabilities_of_children_are_those_of_the_softmax(arity: int) -> None:
    X, y = documents(120, 60, 30)
    _, features = FeatureReader.learn("test", X, True)
    examples = Examples(features, read_labels(y))
    tree = random_tree(30, arity, arity, random_state=0)
    how = SolverSettings(C=16.0, tol=0.2, max_iter=3, bias=1.0, prune=0.0)
    weights, _ = train_tree(tree, examples, how, 0, Run(1, Phases(None)), "train_softmax")
    store, rows = weights.store(60, "softmax"), scaled_rows(examples)
    for node in tree.inner_nodes.tolist():
        found = child_probabilities(weights, store, node, rows)
        for row in range(0, 120, 17):
            expected = store.probabilities(features, row, weights.block_of(node), False)
            np.testing.assert_allclose(found[row], expected, atol=1e-4)


def test_labels_of_one_topic_come_together() -> None:
    """Topics that share no word: parts of the learned tree have fewer of them than parts in random order."""
    rng = np.random.default_rng(0)
    topic = np.arange(40) % 4
    X = np.zeros((400, 80), dtype=np.float32)
    for i in range(400):
        X[i, topic[i % 40] * 20 + rng.choice(20, size=8, replace=False)] = rng.random(8) + 0.5
    y = np.eye(40)[np.arange(400) % 40]

    def n_topics(word: str) -> float:
        """The mean number of topics below a child of the root."""
        found = []
        for seed in range(5):
            tree = LabelTreeClassifier(tree=word, arity=4, max_leaves=4, random_state=seed).build_tree(X, y)
            found += [len(set(topic[tree.labels_under(child)].tolist())) for child in tree.children(0)]
        return float(np.mean(found))

    assert n_topics("learned") < n_topics("random") - 0.5


def test_the_tree_is_balanced_and_does_not_depend_on_threads() -> None:
    X, y = documents(250, 120, 70, seed=1)
    y = y.tolil()
    y[:, 5] = 0  # a label without examples gets a leaf, too
    y = y.tocsr()
    model = HierarchicalSoftmaxClassifier.learned_tree(arity=3, random_state=0).fit(X, y)
    again = HierarchicalSoftmaxClassifier.learned_tree(arity=3, random_state=0, n_jobs=3).fit(X, y)
    start = random_tree(70, 3, 3, random_state=0)
    assert model.tree_ == again.tree_
    assert model.tree_.child_begin.tolist() == start.child_begin.tolist()
    np.testing.assert_array_equal(model.predict_topk(X, 3)[1], again.predict_topk(X, 3)[1])
    other = HierarchicalSoftmaxClassifier.learned_tree(arity=3, random_state=1).fit(X, y)
    assert other.tree_ != model.tree_


def test_a_memory_limit_is_refused() -> None:
    X, y = documents(50, 30, 10)
    with pytest.raises(ValueError, match="leave out memory_gb, or tree='learned'"):
        LabelTreeClassifier(tree="learned", memory_gb=2.0).fit(X, y)

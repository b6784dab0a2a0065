"""The way up of the exchange: guided by the kernel's probabilities, it finds what the kernel finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernel import kernel_probabilities, threshold_search_cost
from tests.reference.search import LINKS, label_marginals, normalized
from tests.strategies import label_trees, models_and_rows

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.exchange import GuidedSearch, pair_probabilities, search_above, search_topk

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]
TREE = LabelTree.from_nested([[0, 1], [2, 3]])
KNOWN = np.array([[1.0, 0.9, 0.2, 0.6, 0.7, 0.5, 0.5]])


def all_probabilities(model: LabelTreeClassifier, X: NDArray[np.float32]) -> NDArray[np.float32]:
    """eta(x, v) of all rows and nodes, before siblings are normalised."""
    siblings, model.normalize_siblings = model.normalize_siblings, False
    eta = np.stack([kernel_probabilities(model, X, i) for i in range(len(X))])
    model.normalize_siblings = siblings
    return eta


class Learner:
    """Answers with known probabilities, and refuses to be asked twice."""

    def __init__(self, known: NDArray[Any]) -> None:
        self.known = known
        self.asked: set[tuple[int, int]] = set()
        self.n_calls = 0

    def __call__(self, rows: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[Any]:
        pairs = set(zip(rows.tolist(), nodes.tolist(), strict=True))
        assert len(pairs) == len(rows)
        assert not pairs & self.asked
        self.asked |= pairs
        self.n_calls += 1
        return self.known[rows, nodes]


@settings(max_examples=50)
@given(models_and_rows(), st.integers(1, 14), st.data())
def test_the_k_best_are_those_of_the_kernel(drawn: Drawn, k: int, data: st.DataObject) -> None:
    model, X = drawn
    tree = model.tree_
    beam = data.draw(st.none() | st.integers(1, 4))
    threshold = data.draw(st.just(0.0) | st.floats(0, 1, width=32))
    allowed = data.draw(st.none() | st.lists(st.booleans(), min_size=tree.n_labels, max_size=tree.n_labels))
    model.set_params(search="exact" if beam is None else "beam", beam=beam or 1)
    learner = Learner(all_probabilities(model, X))
    options = {"threshold": threshold, "normalize_siblings": model.normalize_siblings}
    labels, probabilities = search_topk(
        tree, learner, k, n_rows=len(X), beam=beam, allowed=allowed, **options
    )
    allow = None if allowed is None else np.flatnonzero(allowed)
    expected = model.predict_topk(X, k, threshold=threshold, allow=allow, return_evaluations=True)
    np.testing.assert_array_equal(labels, expected[0])
    np.testing.assert_array_equal(probabilities, expected[1])
    asked = np.bincount([row for row, _ in learner.asked], minlength=len(X))
    np.testing.assert_array_equal(asked, expected[2])
    if beam is not None:
        assert learner.n_calls <= tree.depth + 1


@settings(max_examples=50)
@given(models_and_rows(), st.data())
def test_all_above_thresholds_are_those_of_the_kernel(drawn: Drawn, data: st.DataObject) -> None:
    model, X = drawn
    tree = model.tree_
    numbers = st.floats(0, 1, width=32)
    n_labels = tree.n_labels
    threshold = data.draw(numbers | st.lists(numbers, min_size=n_labels, max_size=n_labels).map(np.float32))
    eta = all_probabilities(model, X)
    learner = Learner(eta)
    siblings = model.normalize_siblings
    found = search_above(tree, learner, threshold, n_rows=len(X), normalize_siblings=siblings)
    expected = model.predict_proba(X, top_k=None, threshold=threshold)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    per_label = np.ndim(threshold) > 0
    cost = threshold_search_cost(model, X, *((0.0, threshold) if per_label else (threshold, None)))
    np.testing.assert_array_equal(np.bincount([r for r, _ in learner.asked], minlength=len(X)), cost)
    assert learner.n_calls <= tree.depth + 1
    # The k best of those above thresholds.
    search = GuidedSearch(tree, len(X), 2, threshold=threshold, normalize_siblings=siblings)
    best = search.run(lambda wanted: eta[wanted.row, wanted.node]).matrix()
    expected = model.predict_proba(X, top_k=2, threshold=threshold)
    np.testing.assert_array_equal(best.toarray(), expected.toarray())


@settings(max_examples=50)
@given(models_and_rows())
def test_pairs_are_those_of_the_kernel(drawn: Drawn) -> None:
    model, X = drawn
    n_labels = model.tree_.n_labels
    rows, labels = np.divmod(np.arange(len(X) * n_labels)[::-1], n_labels)
    learner = Learner(all_probabilities(model, X))
    siblings = model.normalize_siblings
    found = pair_probabilities(model.tree_, learner, rows, labels, normalize_siblings=siblings)
    np.testing.assert_array_equal(found, model.predict_pairs(X, rows, labels))
    assert learner.n_calls == 1


@given(label_trees(), st.integers(0, 2**32 - 1), st.booleans())
def test_brute_force_over_a_matrix(tree: LabelTree, seed: int, siblings: bool) -> None:
    """Few different probabilities, so that many labels tie."""
    eta = np.random.default_rng(seed).choice([0.0, 0.25, 0.5, 1.0], size=(5, tree.n_nodes))
    labels, probabilities = search_topk(tree, eta, 3, normalize_siblings=siblings)
    for i, known in enumerate(eta):
        p = label_marginals(tree, normalized(tree, known) if siblings else known)
        order = np.lexsort((np.arange(tree.n_labels), -p))[:3]
        np.testing.assert_allclose(probabilities[i], p[order], rtol=1e-6)
        if not siblings:
            positive = p[order] > 0  # of labels of probability 0, which are all alike, any may be given
            np.testing.assert_array_equal(labels[i][positive], order[positive])


@pytest.mark.parametrize("link", LINKS)
def test_scores_and_links(link: str) -> None:
    scores = np.random.default_rng(0).normal(size=(4, TREE.n_nodes))
    probabilities = LINKS[link](scores)
    expected = np.stack([label_marginals(TREE, eta) for eta in probabilities])
    found = search_above(TREE, scores, 0.0, link=link).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    rows, labels = np.indices(expected.shape).reshape(2, -1)
    pairs = pair_probabilities(TREE, scores, rows, labels, link=link)
    np.testing.assert_allclose(pairs.reshape(expected.shape), expected, rtol=1e-5, atol=1e-7)
    top = search_topk(TREE, scores, 4, link=link)
    np.testing.assert_allclose(top.probabilities, -np.sort(-expected), rtol=1e-5, atol=1e-7)


def test_only_promising_blocks_are_wanted() -> None:
    """In a wide tree with one good path the search asks for that path alone."""
    tree = LabelTree.from_nested([[[8 * a + 2 * b, 8 * a + 2 * b + 1] for b in range(4)] for a in range(4)])
    known = np.full((3, tree.n_nodes), 0.01)
    for row, label in enumerate([5, 17, 30]):
        known[row, tree.path(label)] = 0.9
    search = GuidedSearch(tree, 3, k=1).run(lambda wanted: known[wanted.row, wanted.node])
    assert search.top_labels().labels.ravel().tolist() == [5, 17, 30]
    assert search.n_evaluations.tolist() == [1 + 4 + 4 + 2] * 3


def test_step_by_step() -> None:
    search = GuidedSearch(TREE, 1, k=2)
    steps = []
    while len(wanted := search.wanted()) > 0:
        assert wanted is search.wanted()
        steps.append((wanted.parent.tolist(), wanted.node.tolist()))
        search.give(KNOWN[wanted.row, wanted.node])
    assert steps == [([-1], [0]), ([0], [1, 2]), ([1], [3, 4])]
    assert search.top_labels().labels.tolist() == [[1, 0]]


def test_no_rows() -> None:
    search = GuidedSearch(TREE, 0, k=2)
    assert len(search.wanted()) == 0
    assert search.top_labels().labels.shape == (0, 2)
    assert pair_probabilities(TREE, KNOWN, [], []).shape == (0,)


def test_a_learner_that_fails_can_be_asked_again() -> None:
    search = GuidedSearch(TREE, 1, k=1)
    search.give([1.0])
    for bad in ([0.5, np.nan], [0.5, 1.5], [-0.1, 0.5]):
        with pytest.raises(ValueError, match=r"row 0, node \d: expected a probability from 0 to 1, got"):
            search.give(bad)
    with pytest.raises(ValueError, match=r"for each of 2 entries, got an array of shape \(3,\)"):
        search.give([0.5, 0.5, 0.5])
    search.run(lambda wanted: KNOWN[wanted.row, wanted.node])
    assert search.top_labels().labels.tolist() == [[1]]
    assert search.n_evaluations.tolist() == [5]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: search_topk(TREE, KNOWN, 0), "k must be an integer of at least 1"),
        (lambda: search_topk(TREE, KNOWN, 1, beam=0), "beam must be an integer of at least 1"),
        (lambda: GuidedSearch(TREE, 1, beam=3), "beam needs k"),
        (lambda: GuidedSearch(TREE, 1, 2, beam=3, threshold=[0.0] * 4), "with beam, threshold must be one"),
        (lambda: GuidedSearch(TREE, -1), "n_rows must be an integer of at least 0"),
        (lambda: search_above(TREE, KNOWN, 2.0), "threshold must be a number from 0 to 1"),
        (lambda: search_above(TREE, KNOWN, [0.5]), "threshold: expected a number for each of 4 labels"),
        (lambda: search_above(TREE, KNOWN, 0.5, allowed=[1]), "allowed: expected a number for each of 4"),
        (lambda: search_topk(TREE, KNOWN[:, :3]), "a column for each of the tree's 7 nodes"),
        (lambda: search_topk(TREE, KNOWN, n_rows=2), "n_rows is 2, but scores have 1 row"),
        (lambda: search_topk(TREE, lambda rows, nodes: nodes), "n_rows is needed"),
        (lambda: search_topk(TREE, KNOWN, link="probit"), "link must be None or one of sigmoid"),
        (lambda: search_topk(TREE, KNOWN * np.nan, link="clip"), "row 0, node 0: the score is not a number"),
        (lambda: search_topk(TREE, lambda r, n: [], n_rows=1, link="clip"), "a score for each of 1 entries"),
        (lambda: pair_probabilities(TREE, KNOWN, [1], [0]), "rows must be integers from 0 to 0"),
        (lambda: pair_probabilities(TREE, KNOWN, [0], [4]), "labels must be integers from 0 to 3"),
        (lambda: pair_probabilities(TREE, KNOWN, [0, 0], [1]), "rows and labels must have the same length"),
        (lambda: pair_probabilities(TREE, KNOWN * 2, [0], [1]), "row 0, node 0: expected a probability"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

"""Several trees: averages by brute force, exact where exactness is promised, and what is found where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.documents import documents
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.kernel import kernel_probabilities
from tests.reference.search import beam_search, label_marginals, node_probabilities
from tests.strategies import models_and_rows

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]
ensembles = models_and_rows(n_trees=st.integers(2, 4))


def marginals_of_trees(model: LabelTreeClassifier, X: NDArray[np.float32], row: int) -> NDArray[np.float32]:
    """P(label | x) in each tree, by brute force: [tree][label]."""
    trees = enumerate(model.trees_)
    return np.array([label_marginals(tree, kernel_probabilities(model, X, row, t)) for t, tree in trees])


def averages(model: LabelTreeClassifier, of_trees: NDArray[np.float32]) -> NDArray[np.float32]:
    """The weighted means, added tree by tree in double precision as the kernel does."""
    weights = [1.0] * len(of_trees) if model.tree_weight is None else model.tree_weight
    total = sum(w * p.astype(np.float64) for w, p in zip(weights, of_trees, strict=True))
    return (total / sum(weights)).astype(np.float32)


@given(ensembles)
def test_probabilities_of_pairs_are_averages(drawn: Drawn) -> None:
    model, X = drawn
    labels = np.arange(model.tree_.n_labels)
    for i, x in enumerate(X.astype(np.float64)):
        found = model.predict_pairs(X, np.full(len(labels), i), labels)
        np.testing.assert_array_equal(found, averages(model, marginals_of_trees(model, X, i)))
        etas = [node_probabilities(w, x, model.link, model.normalize_siblings) for w in model.weights_]
        of_trees = [label_marginals(w.tree, e) for w, e in zip(model.weights_, etas, strict=True)]
        expected = np.average(of_trees, axis=0, weights=model.tree_weight)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@given(ensembles, st.integers(1, 14))
def test_the_k_best_on_average(drawn: Drawn, k: int) -> None:
    """Of labels that are equal the smaller number wins, as in one tree; but not of those with the probability 0."""
    model, X = drawn
    labels, probabilities = model.predict_topk(X, k)
    k = min(k, model.tree_.n_labels)
    for i in range(len(X)):
        average = averages(model, marginals_of_trees(model, X, i))
        expected = np.lexsort((np.arange(len(average)), -average))[:k]
        np.testing.assert_array_equal(probabilities[i], average[expected])
        np.testing.assert_array_equal(probabilities[i], average[labels[i]])
        positive = average[expected] > 0
        np.testing.assert_array_equal(labels[i][positive], expected[positive])
        assert len(set(labels[i].tolist())) == k


@given(ensembles, st.integers(1, 5), st.integers(1, 14))
def test_beam_search_pools_what_the_trees_find(drawn: Drawn, beam: int, k: int) -> None:
    model, X = drawn
    model.set_params(search="beam", beam=beam)
    labels, probabilities = model.predict_topk(X, k)
    for i in range(len(X)):
        average = averages(model, marginals_of_trees(model, X, i))
        candidates = set()
        for t, tree in enumerate(model.trees_):
            best, _ = beam_search(tree, kernel_probabilities(model, X, i, t), k, beam)
            candidates |= {label for label, _ in best}
        expected = sorted((-average[j], j) for j in candidates)[:k]
        assert labels[i][: len(expected)].tolist() == [j for _, j in expected]
        assert probabilities[i][: len(expected)].tolist() == [-p for p, _ in expected]


@given(ensembles, st.integers(1, 14), st.none() | st.integers(1, 5))
def test_missing_estimates_may_be_taken_for_zero(drawn: Drawn, k: int, beam: int | None) -> None:
    model, X = drawn
    model.set_params(missing_estimates="zero")
    if beam is not None:
        model.set_params(search="beam", beam=beam)
    labels, probabilities = model.predict_topk(X, k)
    k = min(k, model.tree_.n_labels)
    for i in range(len(X)):
        of_trees = marginals_of_trees(model, X, i)
        proposed = np.zeros_like(of_trees)
        for t, tree in enumerate(model.trees_):
            if beam is None:
                best = [
                    (j, of_trees[t, j]) for j in np.lexsort((np.arange(len(of_trees[t])), -of_trees[t]))[:k]
                ]
            else:
                best, _ = beam_search(tree, kernel_probabilities(model, X, i, t), k, beam)
            for label, probability in best:
                proposed[t, label] = probability
        average = averages(model, proposed)
        there = labels[i] >= 0
        np.testing.assert_array_equal(probabilities[i][there], average[labels[i][there]])
        np.testing.assert_array_equal(probabilities[i][there], np.sort(average)[::-1][: there.sum()])
        assert np.count_nonzero(average) <= there.sum() or there.all()


@given(ensembles, st.integers(1, 14), st.none() | st.integers(1, 5), st.data())
def test_a_threshold_applies_to_the_average(
    drawn: Drawn, k: int, beam: int | None, data: st.DataObject
) -> None:
    """Not to single trees: a label may be below the threshold in one of them and above it on average."""
    model, X = drawn
    if beam is not None:
        model.set_params(search="beam", beam=beam)
    labels, probabilities = model.predict_topk(X, k)
    threshold = data.draw(st.floats(0, 1, width=32) | st.sampled_from(probabilities.ravel().tolist()))
    found, above = model.predict_topk(X, k, threshold=threshold)
    kept = (labels >= 0) & (probabilities >= np.float32(threshold))
    np.testing.assert_array_equal(found, np.where(kept, labels, -1))
    np.testing.assert_array_equal(above, np.where(kept, probabilities, 0))


@pytest.mark.parametrize("parameters", [{}, {"search": "beam", "beam": 2}], ids=str)
def test_a_tree_proposes_labels_below_the_threshold(parameters: dict[str, Any]) -> None:
    """The first tree proposes label 0, with 0.45, the second one label 1; on average only label 0 reaches 0.5."""
    of_trees = [[0.45, 0.05], [0.8, 0.9]]
    biases = [
        np.array([1000, *(2 * np.array(p) - 1)], dtype=np.float32) for p in of_trees
    ]  # of the link clip
    weights = [tree_weights(LabelTree.flat(2), np.zeros((3, 1), dtype=np.float32), bias) for bias in biases]
    model = hand_made_classifier(weights, 1, "clip").set_params(**parameters)
    x = np.ones((1, 1))
    labels, probabilities = model.predict_topk(x, 1, threshold=0.5)
    assert labels.tolist() == [[0]]
    np.testing.assert_allclose(probabilities, [[0.625]], rtol=1e-6)
    assert model.predict_topk(x, 2, threshold=0.5).labels.tolist() == [[0, -1]]
    assert model.predict_topk(x, 2, threshold=0.4).labels.tolist() == [[0, 1]]
    # Estimates that are missing count as 0: label 1 has (0 + 0.9) / 2.
    model.set_params(missing_estimates="zero")
    np.testing.assert_allclose(model.predict_topk(x, 1, threshold=0.2).probabilities, [[0.45]], rtol=1e-6)
    assert model.predict_topk(x, 1, threshold=0.46).labels.tolist() == [[-1]]
    assert model.predict_topk(x, 2, threshold=0.47).labels.tolist() == [[0, 1]]


@given(ensembles, st.data())
def test_no_label_above_its_threshold_is_missed(drawn: Drawn, data: st.DataObject) -> None:
    model, X = drawn
    average = np.array([averages(model, marginals_of_trees(model, X, i)) for i in range(len(X))])
    hard = st.sampled_from(average.ravel().tolist())
    one = data.draw(st.floats(0, 1, width=32) | hard)
    n_labels = model.tree_.n_labels
    each = data.draw(st.lists(st.floats(0, 1, width=32) | hard, min_size=n_labels, max_size=n_labels))
    for threshold in (one, np.array(each, dtype=np.float32)):
        found = model.predict_proba(X, top_k=None, threshold=threshold)
        for i, p in enumerate(average):
            expected = np.flatnonzero(p >= np.asarray(threshold, dtype=np.float32))
            assert found[[i]].indices.tolist() == expected.tolist()
            np.testing.assert_array_equal(found[[i]].data, p[expected])


@given(ensembles, st.data())
def test_labels_one_by_one_are_exact(drawn: Drawn, data: st.DataObject) -> None:
    model, X = drawn
    n_labels = model.tree_.n_labels
    allow = data.draw(st.none() | st.sets(st.integers(0, n_labels - 1)))
    allowed = sorted(range(n_labels) if allow is None else allow)
    for i in range(len(X)):
        average = averages(model, marginals_of_trees(model, X, i))
        found = list(model.iter_labels(X[[i]], allow=allow))
        assert sorted(label for label, _ in found) == allowed
        assert [p for _, p in found] == np.sort(average[allowed])[::-1].tolist()
        assert [average[label] for label, _ in found] == [p for _, p in found]


def test_an_average_is_never_above_all_its_parts() -> None:
    """Rounded to float32 at every step, three equal numbers may have a larger mean; then labels would be missed."""
    values = np.random.default_rng(0).random(20_000, dtype=np.float32)
    part = values[(values + values + values) / np.float32(3) > values][0]
    tree = LabelTree.flat(1)
    bias = np.array([1000, 2 * np.float64(part) - 1], dtype=np.float32)  # of the link clip: (1 + s) / 2
    weights = tree_weights(tree, np.zeros((2, 1), dtype=np.float32), bias)
    model = hand_made_classifier([weights] * 3, 1, "clip")
    x = np.ones((1, 1))
    assert model.predict_pairs(x, [0], [0]).tolist() == [part]
    assert model.predict_proba(x, top_k=None, threshold=float(part)).toarray().tolist() == [[part]]


def test_trees_of_a_trained_model_differ_and_their_average_is_better() -> None:
    X, y = documents(500, 200, 60)
    shape = {"arity": 2, "max_leaves": 3, "frequent_share": 0}
    one = LabelTreeClassifier(**shape, random_state=0).fit(X[:300], y[:300])
    three = LabelTreeClassifier(3, **shape, random_state=0).fit(X[:300], y[:300])
    assert three.tree_ == one.tree_
    assert len({tree.to_json() for tree in three.trees_}) == 3

    def precision(model: LabelTreeClassifier) -> float:
        best = model.predict_topk(X[300:], k=1).labels[:, 0]
        return float(np.asarray(y[300:].todense())[np.arange(200), best].mean())

    assert precision(three) >= precision(one)


@pytest.mark.parametrize(
    "wrong", [[1.0], [1.0, 0.0], [1.0, float("nan")], [[1.0, 1.0]], [1, -1], [1e308, 1e308]]
)
def test_there_must_be_a_positive_weight_for_each_tree(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"tree_weight must be 2 finite numbers above 0, one for each tree"):
        LabelTreeClassifier(2, tree_weight=wrong).fit(*documents(20, 10, 4))


def test_weights_of_trees_are_saved(tmp_path: Path) -> None:
    X, y = documents(60, 30, 12)
    model = LabelTreeClassifier(2, tree_weight=(1, np.float32(3)), max_leaves=3, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    assert loaded.tree_weight == [1.0, 3.0]
    np.testing.assert_array_equal(loaded.predict_topk(X)[1], model.predict_topk(X)[1])
    equal = LabelTreeClassifier(2, max_leaves=3, random_state=0).fit(X, y)
    assert not np.array_equal(equal.predict_topk(X)[1], model.predict_topk(X)[1])
    np.testing.assert_array_equal(
        model.set_params(tree_weight=None).predict_topk(X)[1], equal.predict_topk(X)[1]
    )

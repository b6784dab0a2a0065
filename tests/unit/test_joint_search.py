"""The k best labels of several trees: brute force over all labels finds the same, whatever is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB
from tests.documents import documents
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.reference.weighted_search import assert_worthiest, best_by_worth, worths
from tests.strategies import label_weights, models_and_rows

from labeltree import FastXMLClassifier, HierarchicalSoftmaxClassifier, LabelTree, LabelTreeClassifier, mix

pytestmark = pytest.mark.native

SHAPE: dict[str, Any] = {"arity": 2, "max_leaves": 3, "frequent_share": 0.0, "random_state": 0}


def all_probabilities(model: Any, X: Any) -> NDArray[np.float32]:
    """P(label | x) of all pairs, which are means over paths: [row][label]."""
    n_rows, n_labels = X.shape[0], len(model.classes_)
    rows, labels = np.divmod(np.arange(n_rows * n_labels), n_labels)
    p: NDArray[np.float32] = model.predict_pairs(X, rows, model.classes_[labels]).reshape(n_rows, n_labels)
    return p


def assert_exact(
    model: Any,
    X: Any,
    k: int,
    weight: NDArray[np.float64] | None = None,
    threshold: float = 0.0,
    allow: set[int] | None = None,
    p: NDArray[np.float32] | None = None,
) -> NDArray[Any]:
    """Check the k best labels of all rows by brute force; return their labels."""
    p = all_probabilities(model, X) if p is None else p
    n_labels = p.shape[1]
    labels, probabilities = model.predict_topk(X, k, label_weight=weight, threshold=threshold, allow=allow)
    weight = np.ones(n_labels) if weight is None else weight
    allowed = np.isin(np.arange(n_labels), list(range(n_labels) if allow is None else allow))
    for i, of_row in enumerate(p):
        expected = best_by_worth(weight, np.where(allowed, of_row, np.float32(-1)), k, threshold)
        assert_worthiest(labels[i], probabilities[i], expected, worths(weight, of_row), of_row)
    found: NDArray[Any] = labels
    return found


def assert_exact_answers(model: Any, X: Any) -> None:
    """Check the answers to questions of many kinds."""
    p = all_probabilities(model, X)
    n_labels = p.shape[1]
    few = set(range(0, n_labels, 5))
    heavy = np.where(np.arange(n_labels) % 10 == 0, 50.0, 1.0)
    middle = float(np.median(p.max(axis=1)))
    for k in (1, 5, n_labels):
        assert_exact(model, X, k, p=p)
        assert_exact(model, X, k, heavy, middle, p=p)
        assert_exact(model, X, k, np.random.default_rng(0).random(n_labels), 0.02, few, p)


def thresholds(p: NDArray[np.float32]) -> st.SearchStrategy[float]:
    """Any, or one that a label just reaches."""
    return st.just(0.0) | st.floats(0, 1, width=32) | st.sampled_from(p.ravel().tolist())


@settings(max_examples=200)
@given(models_and_rows(n_trees=st.integers(2, 5)), st.integers(1, 14), st.data())
def test_brute_force_finds_the_same(
    drawn: tuple[LabelTreeClassifier, NDArray[np.float32]], k: int, data: st.DataObject
) -> None:
    model, X = drawn
    n_labels = model.tree_.n_labels
    p = all_probabilities(model, X)
    weight = data.draw(st.none() | label_weights(n_labels))
    allow = data.draw(st.none() | st.sets(st.integers(0, n_labels - 1)))
    assert_exact(model, X, k, weight, data.draw(thresholds(p)), allow, p)


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    return documents(400, 120, 60)


def trained(kind: str, X: Any, y: Any) -> Any:
    if kind == "softmax":
        return HierarchicalSoftmaxClassifier(3, arity=2, random_state=0).fit(X, y)
    parameters: dict[str, dict[str, Any]] = {
        "plain": {},
        "weighted trees": {"tree_weight": [4.0, 1.0, 0.1]},
        "siblings": {"normalize_siblings": True},
        "joint siblings": {"siblings": "joint", "loss": "logistic"},
        "dense": {},
        "calibrated": {},
        "node estimators": {"node_estimator": BernoulliNB(), "tree_weight": [1.0, 3.0, 1.0]},
    }
    model = LabelTreeClassifier(3, **SHAPE, **parameters[kind])
    model.fit(X.toarray() if kind == "dense" else X, y)
    return model.calibrate(X, y) if kind == "calibrated" else model


@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "weighted trees",
        "siblings",
        "joint siblings",
        "dense",
        "calibrated",
        "softmax",
        "node estimators",
    ],
)
def test_trained_models(kind: str, data: tuple[Any, Any]) -> None:
    X, y = data
    model = trained(kind, X[:300], y[:300])
    X = X[300:310] if kind == "node estimators" else X[300:]
    assert_exact_answers(model, X.toarray() if kind == "dense" else X)


@pytest.mark.parametrize("kind", ["exact", "beam", "zero", "node estimators"])
def test_a_threshold_leaves_no_row_empty_for_which_a_label_qualifies(kind: str) -> None:
    """Labels that weigh 50 are worth most to every tree, but are too improbable."""
    X, y = documents(300, 120, 60)
    parameters: dict[str, Any] = {
        "exact": {},
        "beam": {"search": "beam", "beam": 60},
        "zero": {"missing_estimates": "zero"},
        "node estimators": {"node_estimator": BernoulliNB()},
    }[kind]
    model = LabelTreeClassifier(3, **SHAPE, **parameters).fit(X[:200], y[:200])
    p = all_probabilities(model, X[200:])
    weight = np.where(np.arange(60) % 10 == 0, 50.0, 1.0)
    threshold = 0.1
    labels, _ = model.predict_topk(X[200:], 1, label_weight=weight, threshold=threshold)
    qualified = (p >= threshold).any(axis=1)
    assert qualified.sum() > 50
    found = labels[:, 0] >= 0
    assert not found[~qualified].any()
    if kind == "zero":  # a label's average may be too low where a tree does not propose it
        assert found[qualified].mean() > 0.9
    else:
        assert found[qualified].all()
    if kind != "beam" and kind != "zero":
        assert_exact(model, X[200:], 1, weight, threshold, p=p)


def test_a_label_that_no_tree_has_among_its_best() -> None:
    """The second of every tree is the best on average."""
    of_trees = [[0.9, 0.0, 0.0, 0.7], [0.0, 0.9, 0.0, 0.7], [0.0, 0.0, 0.9, 0.7]]
    biases = [
        np.array([1000, *(2 * np.array(p) - 1)], dtype=np.float32) for p in of_trees
    ]  # of the link clip
    zeros = np.zeros((5, 1), dtype=np.float32)
    weights = [tree_weights(LabelTree.flat(4), zeros, bias) for bias in biases]
    model = hand_made_classifier(weights, 1, "clip")
    labels, probabilities = model.predict_topk(np.ones((1, 1)), 1)
    assert labels.tolist() == [[3]]
    np.testing.assert_allclose(probabilities, [[0.7]], rtol=1e-6)


def test_paths_are_walked_only_as_far_as_they_matter() -> None:
    """Of 60 labels for which 3 trees have many blocks, the best is found with less than half of the nodes."""
    X, y = documents(400, 120, 60)
    model = LabelTreeClassifier(3, **SHAPE).fit(X[:300], y[:300])
    *_, evaluations = model.predict_topk(X[300:], 1, return_evaluations=True)
    assert evaluations.mean() < sum(tree.n_nodes for tree in model.trees_) / 2
    *_, evaluations = model.predict_topk(X[300:], 60, return_evaluations=True)
    assert (evaluations == sum(tree.n_nodes for tree in model.trees_)).all()


@pytest.fixture(scope="module")
def mixed(data: tuple[Any, Any]) -> Any:
    X, y = data[0][:300], data[1][:300]
    members = [
        LabelTreeClassifier(**SHAPE).fit(X, y),
        LabelTreeClassifier(2, **{**SHAPE, "random_state": 7}).fit(X, y).calibrate(X, y),
        FastXMLClassifier(n_trees=5, random_state=0).fit(X, y),
        LabelTreeClassifier(2, **SHAPE, node_estimator=BernoulliNB()).fit(X, y),
    ]
    return mix(members, weights=[3.0, 1.0, 0.5, 1.0])


def test_mixes(mixed: Any, data: tuple[Any, Any]) -> None:
    assert_exact_answers(mixed, data[0][300:320])

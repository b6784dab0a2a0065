"""A batch of rows that share blocks is answered as every row alone is, bit for bit, however it is divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.documents import documents
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.strategies import label_weights, models_and_rows

from labeltree import HierarchicalSoftmaxClassifier, LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]
#: Enough rows for a batch, in one thread or two.
COPIES = 17


def assert_as_alone(model: Any, X: Any, k: int, copies: int = COPIES, **wishes: Any) -> NDArray[np.int64]:
    """Ask for copies of the rows at once, with one and two threads, and for every row alone."""
    order = np.random.default_rng(0).permutation(np.tile(np.arange(X.shape[0]), copies))
    alone = [model.predict_topk(X[[i]], k, return_evaluations=True, **wishes) for i in range(X.shape[0])]
    expected = [np.concatenate([np.asarray(answer[part]) for answer in alone])[order] for part in range(3)]
    for n_jobs in (1, 2):
        found = model.set_params(n_jobs=n_jobs).predict_topk(X[order], k, return_evaluations=True, **wishes)
        for one, other in zip(found, expected, strict=True):
            assert np.asarray(one).tobytes() == other.tobytes()
    return expected[0]


@given(models_and_rows(), st.integers(1, 14), st.data())
def test_random_models(drawn: Drawn, k: int, data: st.DataObject) -> None:
    model, X = drawn
    labels = st.sets(st.integers(0, model.tree_.n_labels - 1))
    _, probabilities = model.predict_topk(X, k)
    # Thresholds that are hit exactly are the hard ones.
    threshold = st.just(0.0) | st.sampled_from(probabilities.ravel().tolist())
    wishes = {"allow": data.draw(st.none() | labels), "threshold": data.draw(threshold)}
    weights = data.draw(st.none() | label_weights(model.tree_.n_labels))
    assert_as_alone(model, X, k, label_weight=weights, **wishes)


@pytest.mark.parametrize("method", ["isotonic", "platt"])
@pytest.mark.parametrize("quantize", [None, "int8", "bfloat16"])
def test_calibrated_models(method: str, quantize: str | None, tmp_path: Any) -> None:
    X, y = documents(200, 300, 80, seed=4)
    model = LabelTreeClassifier(arity=4, max_leaves=6, frequent_share=0.1, random_state=0).fit(X, y)
    model.calibrate(X, y, method=method)
    if quantize is not None:
        model.save(tmp_path / "model", weights=quantize)
        model = LabelTreeClassifier.load(tmp_path / "model")
    for k, wishes in [
        (1, {}),
        (5, {}),
        (80, {}),
        (100, {}),
        (5, {"threshold": 0.05}),
        (5, {"allow": list(range(0, 80, 3))}),
        (5, {"label_weight": np.linspace(0, 2, 80)}),
        (5, {"label_weight": np.linspace(0, 2, 80), "threshold": 0.01}),
    ]:
        assert_as_alone(model, X[:40], k, copies=2, **wishes)


@pytest.mark.parametrize(
    "parameters",
    [
        {"siblings": "joint", "loss": "logistic", "max_leaves": 4},
        {"normalize_siblings": True},
        {"link": "clip"},
    ],
)
def test_other_probabilities(parameters: dict[str, Any]) -> None:
    X, y = documents(120, 200, 40, seed=5)
    model = LabelTreeClassifier(**{"arity": 3, "max_leaves": 5, "random_state": 0, **parameters}).fit(X, y)
    for k in (1, 5, 40):
        assert_as_alone(model, X[:40], k, copies=2)


def test_softmax() -> None:
    X, _ = documents(120, 200, 40, seed=5)
    model = HierarchicalSoftmaxClassifier(arity=3, max_leaves=5, random_state=0).fit(X, np.arange(120) % 40)
    for k in (1, 5, 40):
        assert_as_alone(model, X[:40], k, copies=2)


def test_ties_of_whole_subtrees() -> None:
    """Equal labels are those with the smallest numbers; worthless ones are those that a row alone finds."""
    tree = LabelTree.from_nested([[[9], [3, 8], 2], [[4, 1], [0, 7]], [6, 5]])
    # Of the empty row all labels are certain; of the other, only those below the first child of the root.
    W = np.zeros((tree.n_nodes, 1), dtype=np.float32)
    W[2:4] = -2000
    model = hand_made_classifier([tree_weights(tree, W, np.full(tree.n_nodes, 1000))], 1, "clip")
    X = np.array([[0], [1]], dtype=np.float32)
    for k in range(1, 12):
        labels = assert_as_alone(model, X, k, copies=40)
        best = labels[np.argmax(labels.max(axis=1) - labels.min(axis=1))]
        assert len(set(best[: min(k, 10)].tolist())) == min(k, 10)
    found, probabilities = model.predict_topk(np.zeros((40, 1), dtype=np.float32), 4)
    assert found.tolist() == [[0, 1, 2, 3]] * 40
    found, probabilities = model.predict_topk(np.ones((40, 1), dtype=np.float32), 5)
    assert found[:, :4].tolist() == [[2, 3, 8, 9]] * 40
    assert probabilities.tolist() == [[1, 1, 1, 1, 0]] * 40


def test_a_tree_with_more_levels_than_a_number_has_bits() -> None:
    """The best labels are at the end of a chain of a hundred nodes."""
    nested: Any = [100, 101]
    for label in reversed(range(100)):
        nested = [label, nested]
    tree = LabelTree.from_nested(nested)
    W = np.zeros((tree.n_nodes, 1), dtype=np.float32)
    bias = np.full(tree.n_nodes, 50, dtype=np.float32)
    bias[tree.is_leaf] = -5.0
    bias[tree.leaf_of_label[100:]] = 5.0
    model = hand_made_classifier([tree_weights(tree, W, bias)], 1, "sigmoid")
    X = np.zeros((1, 1), dtype=np.float32)
    for k in (1, 2, 5, 102):
        labels = assert_as_alone(model, X, k, copies=80)
        assert set(labels[0, :2]) <= {100, 101}


def test_scores_that_are_no_numbers() -> None:
    """Infinite scores of both signs meet: such a node has the probability 0."""
    tree = LabelTree.from_nested([[0, 1], [2, 3]])
    W = np.zeros((tree.n_nodes, 2), dtype=np.float32)
    W[1], W[4] = [3e38, -3e38], [3e38, 3e38]
    model = hand_made_classifier([tree_weights(tree, W, np.full(tree.n_nodes, 0.5))], 2, "sigmoid")
    X = np.array([[0, 0], [1e3, 1e3], [1e30, 0], [0, -1e30]], dtype=np.float32)
    for k in (1, 2, 4):
        assert_as_alone(model, X, k)

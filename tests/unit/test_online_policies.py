"""Policies: which trees they grow, by hand, by the twin, and what a wrong choice leaves behind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.online_models import kernel_tree, learn, online_model
from tests.online_streams import (
    BIAS,
    LEARNERS,
    PolicyCase,
    best_fit,
    complete,
    policies,
    random_descent,
    streams,
)
from tests.reference import online_policies as twins
from tests.reference.online_classifier import Learner
from tests.reference.online_tree import Observation, OnlineTree

from labeltree import OnlineLabelTreeClassifier

pytestmark = pytest.mark.native

LEARNER = LEARNERS[0]
#: Where `numbers` in the state of a tree has the steps of the policy.
N_STEPS = 2


def letters(n: int) -> list[Observation]:
    """One new label after another, with nothing to tell them apart by."""
    return [([(BIAS, 1.0)], [f"{i:03}"]) for i in range(n)]


def nested(model: OnlineLabelTreeClassifier) -> Any:
    """The tree as nested lists of the users' labels."""

    def named(part: Any) -> Any:
        return [named(p) for p in part] if isinstance(part, list) else model.classes_[part]

    return named(model.tree_.to_nested())


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: f"{a.solver}-{a.loss}")
@given(streams().filter(lambda stream: any(labels for _, labels in stream)), policies())
@settings(max_examples=20)
def test_trees_are_those_of_the_twin(learner: Learner, stream: list[Observation], policy: PolicyCase) -> None:
    model = learn(online_model(learner, **policy.parameters()), stream)
    twin = OnlineTree(learner, policy.twin(), policy.arity).train(stream)
    parent, label = kernel_tree(model).structure()
    assert parent.tolist() == twin.parent_of
    assert [model._model.labels.labels[j] if j >= 0 else None for j in label] == twin.label_of
    shape = twin.nested()
    assert nested(model) == (shape if isinstance(shape, list) else [shape])  # a tree's root is never a leaf


@pytest.mark.parametrize("arity", [2, 3, 16])
@pytest.mark.parametrize("n_labels", [2, 3, 4, 17, 100])
def test_the_complete_tree(arity: int, n_labels: int) -> None:
    """In its array, the children of node i are nodes b i + 1 to b i + b, as many as there are."""
    model = learn(online_model(LEARNER, **complete(arity).parameters()), letters(n_labels))
    parent, _ = kernel_tree(model).structure()
    assert parent.tolist() == [-1, *((i - 1) // arity for i in range(1, len(parent)))]
    assert model.tree_.depth <= math.ceil(math.log(n_labels, arity) + 1e-9) + 1


def test_the_complete_tree_by_hand() -> None:
    trees = [nested(learn(online_model(LEARNER, arity=2), letters(n))) for n in range(1, 6)]
    a, b, c, d, e = (f"{i:03}" for i in range(5))
    assert trees == [[a], [a, b], [[a, c], b], [[a, c], [b, d]], [[[a, e], c], [b, d]]]


@pytest.mark.parametrize("arity", [2, 3, 5])
@pytest.mark.parametrize("n_labels", [5, 27, 64, 100])
def test_best_fit_for_balance_alone_is_balanced(arity: int, n_labels: int) -> None:
    model = learn(online_model(LEARNER, **best_fit(arity, 1.0).parameters()), letters(n_labels))
    assert model.tree_.depth == math.ceil(math.log(n_labels, arity) - 1e-9)


def test_best_fit_puts_a_label_with_those_of_similar_examples() -> None:
    """One label for the first feature and many for the second: a new one of the second goes to the many."""
    seen = [([(i % 2, 1.0)], ["first"] if i % 2 == 0 else [f"second {i % 12}"]) for i in range(120)]
    new = [([(1, 1.0)], ["new"])]
    fits, balances = (
        nested(learn(online_model(LEARNER, policy="best_fit", arity=2, alpha=alpha), [*seen, *new]))
        for alpha in (0.0, 1.0)
    )
    assert "first" in fits
    assert "first" not in balances


def test_random_trees_differ_by_their_seed_only() -> None:
    def tree(seed: int) -> Any:
        return nested(learn(online_model(LEARNER, **random_descent(2, seed).parameters()), letters(40)))

    assert tree(1) == tree(1) != tree(2)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (lambda tree: (tree.root, False), [["a", "c"], ["b", "d"], "new"]),
        (lambda tree: (tree.children(tree.root)[1], False), [["a", "c"], ["b", "d", "new"]]),
        (lambda tree: (tree.root, True), [[["a", "c"], ["b", "d"]], "new"]),
        (lambda tree: (tree.children(tree.root)[0], True), [[["a", "c"], "new"], ["b", "d"]]),
        (lambda tree: (leaf_of(tree, 2), True), [["a", ["c", "new"]], ["b", "d"]]),
    ],
    ids=["child of the root", "child", "above all", "above a subtree", "split leaf"],
)
def test_the_three_ways_to_extend_a_tree(choice: Any, expected: Any) -> None:
    """As in the paper: a new child, a new node over a subtree, a leaf split in two."""

    def policy(tree: Any, label: int) -> tuple[int, bool]:
        if label < 4:
            v = math.ceil(tree.n_nodes / 2) - 1
            return v, tree.is_leaf(v)
        return choice(tree)

    stream = [([(BIAS, 1.0)], [label]) for label in ("a", "b", "c", "d", "new")]
    assert nested(learn(online_model(LEARNER, policy=policy), stream)) == expected


def leaf_of(tree: Any, label: int) -> int:
    return next(v for v in range(tree.n_nodes) if tree.is_leaf(v) and tree.label(v) == label)


def test_what_a_policy_sees() -> None:
    seen: dict[str, Any] = {}

    def policy(tree: Any, label: int) -> tuple[int, bool]:
        v = math.ceil(tree.n_nodes / 2) - 1
        nodes = range(tree.n_nodes)
        seen.update(
            root=tree.root,
            n_labels=tree.n_labels,
            parent=[tree.parent(u) for u in nodes],
            children=[tree.children(u) for u in nodes],
            is_leaf=[tree.is_leaf(u) for u in nodes],
            label=[tree.label(u) for u in nodes],
            n_leaves=[tree.n_leaves(u) for u in nodes],
            probability=[tree.probability(u) for u in nodes],
            kept=tree,
        )
        return v, tree.is_leaf(v)

    stream: list[Observation] = [([(i, 1.0), (BIAS, 1.0)], [label]) for i, label in enumerate("abc")]
    last: Observation = ([(0, 1.0), (2, 0.5), (BIAS, 1.0)], ["d"])
    learn(online_model(LEARNER, policy=policy), [*stream, last])
    twin = OnlineTree(LEARNER, complete(2).twin()).train(stream)
    twin.x = last[0]
    kept = seen.pop("kept")
    assert seen == {
        "root": 0,
        "n_labels": 3,
        "parent": [-1, 0, 0, 1, 1],
        "children": [[1, 2], [3, 4], [], [], []],
        "is_leaf": [False, False, True, True, True],
        "label": [-1, -1, 1, 0, 2],
        "n_leaves": [3, 2, 1, 1, 1],
        "probability": pytest.approx([twin.probability(v) for v in range(5)], rel=1e-6),
    }
    with pytest.raises(ValueError, match="was for one choice"):
        kept.children(0)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda tree: (99, False), ValueError, "must choose a node that is open, got 99"),
        (lambda tree: (-1, True), ValueError, "must choose a node that is open, got -1"),
        (lambda tree: (leaf_of(tree, 0), False), ValueError, "without insert: a leaf must be split"),
        (lambda tree: 3, ValueError, r"must return a pair \(node, insert\), got 3"),
        (lambda tree: tree.children(99), ValueError, "there is no such node"),
        (lambda tree: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
    ids=["no node", "negative", "leaf", "no pair", "asks for no node", "raises"],
)
@given(streams(max_rows=10), st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_a_wrong_choice_changes_nothing(
    answer: Any, error: Any, message: str, stream: list[Observation], seed: int
) -> None:
    """Also if it comes after right choices for other new labels of the same example."""
    right = twins.anywhere(seed)
    wrong_from = [math.inf]

    def policy(tree: Any, label: int) -> tuple[int, bool]:
        return right(tree, label) if label < wrong_from[0] else answer(tree)

    model = learn(online_model(LEARNER, policy=policy), [*letters(2), *stream])
    n_labels, before = len(model.classes_), kernel_tree(model).state()
    wrong_from[0] = n_labels + 2
    with pytest.raises(error, match=message):
        learn(model, [([(0, 1.0), (BIAS, 1.0)], ["w", "x", "y", "z"])])
    after = kernel_tree(model).state()
    assert len(model.classes_) == n_labels
    assert before.keys() == after.keys()
    for name, array in before.items():
        # Steps of the policy were made, even if in vain.
        same = np.arange(len(array)) != N_STEPS if name == "numbers" else np.full(len(array), True)
        np.testing.assert_array_equal(array[same], after[name][same], err_msg=name)

"""Policies of one's own: what they may do, and what happens when they fail."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from tests.contract.problem import assert_same_answers, lists, problem
from tests.online_problem import online, state_of

from labeltree import OnlineLabelTreeClassifier


def test_a_policy_that_fails_changes_nothing() -> None:
    X, y = problem()
    names = lists(y)
    calls = []

    def moody(tree: Any, label: int) -> tuple[int, bool]:
        calls.append(tree)
        if len(calls) == 7:
            raise RuntimeError("not today")
        v = tree.n_nodes - 1
        return (v, True) if len(calls) % 2 else (tree.parent(v) if v else v, v == 0 or len(calls) % 3 == 0)

    model, steady = online(policy=moody), []
    failed_at = None
    for i in range(X.shape[0]):
        steady.append(state_of(model) if model.__sklearn_is_fitted__() else None)
        try:
            model.partial_fit(X[[i]], [names[i]])
        except RuntimeError:
            failed_at = i
            break
    assert failed_at is not None
    before = steady[failed_at]
    after = state_of(model)
    for name in before:
        same = after[name] if name != "numbers" else after[name][[0, 3, 4, 5]]
        np.testing.assert_array_equal(
            same, before[name] if name != "numbers" else before[name][[0, 3, 4, 5]], err_msg=name
        )
    model.partial_fit(X[failed_at:], names[failed_at:])
    with pytest.raises(ValueError, match="was for one choice"):
        calls[0].parent(0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3, "must return a pair"),
        ((99, True), "node that is open, got 99"),
        ((-1, True), "node that is open"),
        ((0, False), "leaf 0 without insert"),
        ((1.5, True), "must return a pair"),
    ],
)
def test_a_policy_that_answers_nonsense(answer: Any, message: str) -> None:
    model = online(policy=lambda tree, label: answer).partial_fit(np.eye(2)[:1], [["a"]])
    with pytest.raises(ValueError, match=message):
        model.partial_fit(np.eye(2)[:1], [["b"]])
    assert model.classes_.tolist() == ["a"]


class Hesitating:
    """Splits the newest leaf, and cannot say whether a node is full when it is asked for the n-th time."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, tree: Any, label: int) -> tuple[int, bool]:
        return tree.n_nodes - 1, True

    def closes(self, tree: Any, node: int, n_children: int) -> bool:
        self.n -= 1
        if self.n == 0:
            raise RuntimeError("cannot say")
        return n_children >= 2


@pytest.mark.native
@pytest.mark.parametrize("n", range(1, 12))
def test_a_policy_that_fails_half_way_changes_nothing(n: int) -> None:
    policy = Hesitating(10**9)
    model = online(policy=policy).partial_fit(np.eye(3), [["a", "b"], ["c"], []])
    before = state_of(model)
    policy.n = n
    try:
        model.partial_fit(np.eye(3)[:1], [["d", "a", "e", "f"]])
    except RuntimeError:
        for name, values in state_of(model).items():
            np.testing.assert_array_equal(
                np.delete(values, 2) if name == "numbers" else values,
                np.delete(before[name], 2) if name == "numbers" else before[name],
                err_msg=name,
            )
        policy.n = 10**9
        model.partial_fit(np.eye(3)[:1], [["d", "a", "e", "f"]])
    else:
        assert n > 6
    assert model.classes_.tolist() == list("abcdef")
    expected = online(policy=Hesitating(10**9)).partial_fit(np.eye(3), [["a", "b"], ["c"], []])
    expected.partial_fit(np.eye(3)[:1], [["d", "a", "e", "f"]])
    assert_same_answers(model, expected, np.eye(3))


def test_a_policy_must_not_ask_its_own_model() -> None:
    asked: list[Any] = []

    def curious(tree: Any, label: int) -> tuple[int, bool]:
        for question in (lambda: model.predict(np.eye(2)), lambda: model.partial_fit(np.eye(2), [["x"]] * 2)):
            with pytest.raises(RuntimeError, match="must not use or train the model"):
                question()
            asked.append(label)
        return tree.n_nodes - 1, True

    model = online(policy=curious).partial_fit(np.eye(2)[:1], [["a"]])
    assert model.partial_fit(np.eye(2), [["b"], ["c"]]).classes_.tolist() == ["a", "b", "c"]
    assert asked == [1, 1, 2, 2]


def test_a_policy_does_not_keep_its_model_alive() -> None:
    """As it would if the kernel held it: a function of a script knows the script's model."""

    def script() -> weakref.ref[OnlineLabelTreeClassifier]:
        def flat(tree: Any, label: int) -> tuple[int, bool]:
            return (0, True) if len(known) == 0 else (0, tree.is_leaf(0))

        known: list[OnlineLabelTreeClassifier] = []
        known.append(online(policy=flat).partial_fit(np.eye(2), [["a"], ["b"]]))
        return weakref.ref(known[0])

    gone = script()
    gc.collect()
    assert gone() is None


def test_a_policy_that_wants_more_children_than_a_shared_table_has_room_for() -> None:
    model = online(policy=lambda tree, label: (0, tree.is_leaf(0)), weights="shared", memory_mb=0.1, arity=3)
    model.partial_fit(np.eye(3), [["a"], ["b"], ["c"]])
    with pytest.raises(
        ValueError, match="has 3 children, but shared weights have room for those of `arity` only"
    ):
        model.partial_fit(np.eye(3)[:1], [["d"]])
    assert model.n_examples_ == 3

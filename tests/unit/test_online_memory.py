"""The memory of online models: budgets that are kept, and labels that are forgotten."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.contract.problem import lists, problem
from tests.documents import documents
from tests.online_problem import KINDS, online, state_of


@pytest.mark.parametrize("solver", ["adagrad", "sgd", "fobos"])
@pytest.mark.parametrize("policy", ["complete", "random", "best_fit"])
@pytest.mark.parametrize("arity", [2, 16])
def test_hashed_weights_keep_within_their_memory(solver: str, policy: str, arity: int) -> None:
    X, y = documents(400, 300, 150)
    n_labels = len(np.unique(y.indices))
    model = online(
        weights="hashed", memory_mb=2, expected_labels=n_labels, solver=solver, policy=policy, arity=arity
    )
    model.partial_fit(X, y)
    used = model.memory_["weights"] / 2**20
    assert used < 2 * 1.03
    if arity == 2:  # which is what the formula is made for
        assert used > 2 * (0.6 if solver == "fobos" else 0.97)


def test_more_labels_than_memory_was_planned_for() -> None:
    model = online(weights="hashed", memory_mb=1, expected_labels=3)
    model.partial_fit(np.eye(3), [["a"], ["b"], ["c"]])
    with pytest.raises(ValueError, match=r"planned for 3 labels \(expected_labels\).*forget"):
        model.partial_fit([[1.0, 0, 0], [0, 1.0, 0]], [["a"], ["d", "a"]])
    assert model.n_examples_ == 4
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.forget(labels=["b"]) == 1
    assert model.partial_fit(np.eye(3)[:1], [["d"]]).classes_.tolist() == ["a", "c", "d"]


def test_a_shared_table_keeps_within_its_memory() -> None:
    X, y = documents(400, 300, 150)
    model = online(weights="shared", memory_mb=0.5).partial_fit(X, y)
    assert model.memory_["weights"] == 2**19


def test_memory_is_reported() -> None:
    X, y = documents(300, 200, 50)
    model = online(arity=16).partial_fit(X, y)
    memory = model.memory_
    assert memory["total"] == memory["weights"] + memory["maps"] + memory["tree"]
    n_weights = sum(len(state_of(model)[name]) for name in ("weight", "square"))
    assert 4 * n_weights <= memory["weights"] < 4 * n_weights * 2
    n_rows = len(state_of(model)["feature"])
    assert 8 * n_rows / 0.875 <= memory["maps"] * 1.001
    assert memory["maps"] < 8 * n_rows / 0.875 * 1.6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": "hashed", "memory_mb": 1}, "needs expected_labels"),
        ({"weights": "hashed", "expected_labels": 5}, "needs memory_mb"),
        ({"weights": "map", "memory_mb": 5}, "does not use memory_mb"),
        ({"weights": "shared", "memory_mb": 5, "expected_labels": 3}, "does not use expected_labels"),
        ({"weights": "hashed", "memory_mb": 1e-5, "expected_labels": 100}, "leaves no weight"),
        ({"weights": "shared", "memory_mb": 1e-5}, "less than two nodes"),
        ({"weights": "shared", "memory_mb": 1, "solver": "fobos"}, "allows no penalty"),
        ({"regularization": 0.1}, "'adagrad' has no penalty"),
        ({"solver": "sgd", "learning_rate": 10.0, "regularization": 0.5}, "must be below 1"),
        ({"loss": "logistic", "link": "exp3"}, "does not work with loss"),
        ({"policy": "tallest"}, "'policy' must be one of"),
        ({"arity": 1}, "'arity' must be an integer of at least 2"),
        ({"alpha": 1.5}, "'alpha' must be"),
        (
            {"learning_rate": 1e9, "normalize": False, "solver": "sgd", "regularization": 0.0},
            "grew beyond all bounds",
        ),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        online(**parameters).fit(X * 1e15 if "normalize" in parameters else X, y)


@pytest.mark.native
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["complete", "random", "best_fit"])
def test_labels_are_forgotten(kind: str, policy: str) -> None:
    X, y = documents(300, 60, 40)
    names = lists(y, lambda j: f"label {j:02}")
    model = online(policy=policy, **KINDS[kind]).partial_fit(X, names)
    everything = model.classes_.tolist()
    seen_lately = sorted({label for row in names[-20:] for label in row})
    memory = model.memory_["total"]
    assert model.forget(not_seen_for=20) == len(everything) - len(seen_lately) > 0
    assert model.classes_.tolist() == seen_lately
    assert sorted(model.tree_.label[model.tree_.label >= 0]) == list(range(len(seen_lately)))
    children = np.diff(model.tree_.child_begin)
    assert (children[children > 0] > 1).all() or model.tree_.n_labels == 1, (
        "a node with one child is of no use"
    )
    assert kind == "shared" or model.memory_["total"] < memory
    # What is left still answers, and learns: also the labels that were forgotten.
    best = model.predict_topk(X[-20:], k=1).labels.ravel()
    assert np.mean([label in row for label, row in zip(best, names[-20:], strict=True) if row]) > 0.3
    model.partial_fit(X, names)
    assert model.classes_.tolist() == everything
    assert (np.diff(model.tree_.child_begin) <= 3).all()


def test_what_stays_is_as_it_was() -> None:
    """Where a node keeps all its children, and its parents do, nothing changes."""
    X, y = documents(300, 60, 40)
    model = online(arity=2).partial_fit(X, y)
    before = model.predict_proba(X, top_k=None).toarray()
    tree = model.tree_
    deepest = max(range(tree.n_labels), key=lambda label: len(tree.path(label)))
    sibling = [label for label in tree.labels_under(tree.parent[tree.path(deepest)[-1]]) if label != deepest]
    model.forget(labels=[int(model.classes_[label]) for label in sibling])
    after = model.predict_proba(X, top_k=None).toarray()
    others = [label for label in range(tree.n_labels) if label not in (*sibling, deepest)]
    np.testing.assert_array_equal(after[:, others], before[:, others])
    assert (after[:, deepest] >= before[:, deepest]).all()
    assert (after[:, sibling] == 0).all()


def test_everything_may_be_forgotten() -> None:
    model = online().partial_fit(np.eye(3), [["a"], ["b"], ["c"]])
    assert model.forget(labels=["a", "b", "c"]) == 3
    assert model.predict(np.eye(3)) == [[], [], []]
    assert model.partial_fit(np.eye(3), [["d"], ["e"], ["a"]]).classes_.tolist() == ["a", "d", "e"]
    assert model.n_examples_ == 6


def test_forgetting_needs_to_know_what() -> None:
    model = online().partial_fit(np.eye(2), [["a"], ["b"]])
    with pytest.raises(ValueError, match="either not_seen_for"):
        model.forget()
    with pytest.raises(ValueError, match="either not_seen_for"):
        model.forget(not_seen_for=3, labels=["a"])
    with pytest.raises(ValueError, match="not_seen_for must be an integer of at least 1"):
        model.forget(not_seen_for=0)
    with pytest.raises(ValueError, match="'z' is not a label"):
        model.forget(labels=["z"])

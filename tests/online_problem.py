"""What the tests of the online classifier have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from labeltree import OnlineLabelTreeClassifier

KINDS: dict[str, dict[str, Any]] = {
    "map": {},
    "dense": {"weights": "dense"},
    "hashed": {"weights": "hashed", "memory_mb": 1, "expected_labels": 40},
    "shared": {"weights": "shared", "memory_mb": 1},
}
LEARNERS = [
    {"solver": solver, "loss": loss}
    for solver in ("adagrad", "sgd", "fobos")
    for loss in ("logistic", "squared_hinge")
]


def online(**parameters: Any) -> OnlineLabelTreeClassifier:
    return OnlineLabelTreeClassifier(**{"arity": 3, "random_state": 0, **parameters})


def named_rows(X: Any) -> list[dict[str, float]]:
    return [
        {f"word {j}": float(v) for j, v in zip(X[[i]].indices, X[[i]].data, strict=True)}
        for i in range(X.shape[0])
    ]


def state_of(model: OnlineLabelTreeClassifier, tree: int = 0) -> dict[str, Any]:
    return model._model.trees[tree].state()


def assert_same_state(one: OnlineLabelTreeClassifier, other: OnlineLabelTreeClassifier) -> None:
    assert len(one._model.trees) == len(other._model.trees)
    for tree in range(len(one._model.trees)):
        a, b = state_of(one, tree), state_of(other, tree)
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=f"{name} of tree {tree}")
    assert one._model.labels.labels == other._model.labels.labels

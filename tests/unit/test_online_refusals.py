"""What an online model refuses, and says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.online_problem import online


def test_scores_of_single_nodes() -> None:
    model = online().partial_fit(np.eye(2), [["a"], ["b"]])
    with pytest.raises(ValueError, match=r"freeze\(\) the model first"):
        model.model_.forest.node_scores(None, None, None, 0)


def test_one_label_may_be_expected() -> None:
    model = online(weights="hashed", memory_mb=1, expected_labels=1).partial_fit(np.eye(2), [["a"], ["a"]])
    assert model.classes_.tolist() == ["a"]
    with pytest.raises(ValueError, match="'expected_labels' must be"):
        online(weights="hashed", memory_mb=1, expected_labels=0).partial_fit(np.eye(2), [["a"], ["a"]])


def test_a_policy_cannot_change_the_model_that_learns() -> None:
    """It would wait for itself for ever."""
    refused: list[str] = []

    def policy(tree: Any, label: int) -> tuple[int, bool]:
        for change in (
            lambda: model.forget(labels=["a"]),
            lambda: model.partial_fit(np.eye(2), [["a"], ["b"]]),
        ):
            with pytest.raises(RuntimeError) as caught:
                change()
            refused.append(str(caught.value))
        return 0, tree.is_leaf(0)

    model = online(policy=policy).partial_fit(np.eye(2), [["a"], ["a"]])  # the first label needs no policy
    model.partial_fit(np.eye(2), [["a"], ["b"]])
    assert len(refused) == 2
    assert model.forget(labels=["a"]) == 1

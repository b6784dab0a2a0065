"""The kernel's forests, made directly: trees that do not belong together are refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.hand_made_models import random_tree_weights

from labeltree import LabelTree, _native

pytestmark = pytest.mark.native


def store(n_labels: int = 4, n_features: int = 3) -> _native.BlockStore:
    return random_tree_weights(LabelTree.flat(n_labels), n_features, np.random.default_rng(0)).store(
        n_features, "sigmoid"
    )


def test_trees_that_belong_together() -> None:
    assert _native.Forest([store(), store()], [1.0, 2.0]) is not None


@pytest.mark.parametrize("other", [{"n_labels": 5}, {"n_features": 4}, {"n_labels": 3, "n_features": 2}])
def test_trees_of_different_models(other: dict[str, int]) -> None:
    for trees in ([store(), store(**other)], [store(**other), store()], [store(), store(), store(**other)]):
        with pytest.raises(ValueError, match="differ in their number of labels or features"):
            _native.Forest(trees, [1.0] * len(trees))


def test_no_trees_and_other_numbers_of_weights() -> None:
    with pytest.raises(ValueError, match="a model needs at least one tree"):
        _native.Forest([], [])
    for weights in ([1.0], [1.0, 1.0, 1.0], []):
        with pytest.raises(ValueError, match=f"one weight for each of the 2 trees, got {len(weights)}"):
            _native.Forest([store(), store()], weights)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_weights_that_are_not_above_0(weight: float) -> None:
    with pytest.raises(ValueError, match="the weights of trees must be above 0"):
        _native.Forest([store(), store()], [1.0, weight])

"""The kernel's objects keep Python objects alive; the garbage collector must be able to see that."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.small_models import N_FEATURES, small_data, small_model

from labeltree import OnlineLabelTreeClassifier, _native

pytestmark = pytest.mark.native


class Linked(np.ndarray):
    """An array that may refer to the object that keeps it alive."""

    owner: Any


def linked(values: Any, dtype: Any) -> Linked:
    return np.asarray(values, dtype=dtype).view(Linked)


def tree() -> tuple[Any, Linked]:
    array = linked([1, 3, 3, 3], np.int32)
    return _native.Tree(array, np.array([-1, 0, 1], dtype=np.int32), 2), array


def features() -> tuple[Any, Linked]:
    array = linked(np.ones((2, 3)), np.float32)
    return _native.FeatureMatrix.dense(array, False), array


def sparse_features() -> tuple[Any, Linked]:
    array = linked([0, 1, 2], np.int64)
    ones = np.ones(2, dtype=np.float32)
    return _native.FeatureMatrix.csr(array, np.zeros(2, dtype=np.int64), ones, 3, False), array


def examples() -> tuple[Any, Linked]:
    array = linked([1, 2], np.float32)
    matrix, _ = features()
    labels = np.arange(3, dtype=np.int64), np.arange(2, dtype=np.int32)
    return _native.Examples(matrix, *labels, 2, array), array


def examples_by_features() -> tuple[Any, Linked]:
    matrix, array = features()
    return _native.Examples(matrix, np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int32), 2), array


def search() -> tuple[Any, Linked]:
    array = linked([1, 0], np.uint8)
    return _native.Search(1, allowed=array), array


def store() -> tuple[Any, Linked]:
    weights = small_model(n_trees=1).weights_[0]
    array = linked(weights.arrays["bias"], np.float32)
    arrays = {**weights.arrays, "bias": array}
    return _native.BlockStore(weights.tree.native, arrays, N_FEATURES, _native.Link.exp4), array


def forest() -> tuple[Any, Linked]:
    of_tree, array = store()
    return _native.Forest([of_tree], [1.0]), array


def enumeration() -> tuple[Any, Linked]:
    trees, array = forest()
    row = small_model(n_trees=1).model_.read(small_data()[0][:1])
    return _native.Enumeration(trees, row, 0, _native.Search(1)), array


def guided_search() -> tuple[Any, Linked]:
    shape, array = tree()
    return _native.GuidedSearch(shape, 1, _native.GuidedStrategy.best_first, _native.Search(1)), array


def example_forest() -> tuple[Any, Linked]:
    array = linked([0.0], np.float32)
    arrays = {
        "tree_begin": np.array([0, 1], dtype=np.int64),
        "child": np.zeros(1, dtype=np.int32),
        "weight_begin": np.zeros(2, dtype=np.int64),
        "feature": np.zeros(0, dtype=np.int32),
        "weight": np.zeros(0, dtype=np.float32),
        "bias": array,
        "pair_begin": np.zeros(2, dtype=np.int64),
        "label": np.zeros(0, dtype=np.int32),
        "probability": np.zeros(0, dtype=np.float32),
    }
    return _native.ExampleForest(arrays, 2, 3), array


def column_plan() -> tuple[Any, Linked]:
    array = linked([0, 1], np.int32)
    begin, chunks = np.array([0, 2], dtype=np.int64), np.zeros(1, dtype=np.int64)
    return _native.ColumnPlan(array, begin, 1, chunks), array


def negatives() -> tuple[Any, Linked]:
    array = linked([0, 0], np.int64)
    return _native.Negatives(array, np.zeros(0, dtype=np.int32), 1), array


def is_collected(make: Callable[[], tuple[Any, Any]]) -> bool:
    """Whether an object goes that refers to another, which refers back."""
    made, held = make()
    held.owner = made
    seen = weakref.ref(held)
    del made, held
    gc.collect()
    return seen() is None


@pytest.mark.parametrize(
    "make",
    [
        tree,
        features,
        sparse_features,
        examples,
        examples_by_features,
        search,
        store,
        forest,
        enumeration,
        guided_search,
        example_forest,
        column_plan,
        negatives,
    ],
)
def test_a_cycle_through_an_array_is_collected(make: Callable[[], tuple[Any, Any]]) -> None:
    assert is_collected(make)


def test_a_cycle_through_a_policy_is_collected() -> None:
    class Policy:
        owner: Any

        def __call__(self, view: Any, label: int) -> tuple[int, bool]:
            return 0, False

    def online_tree() -> tuple[Any, Policy]:
        policy = Policy()
        settings = OnlineLabelTreeClassifier().partial_fit([[1.0]], [["a"]])._model.settings
        return _native.OnlineTree(settings.options(), _native.CallablePolicy(policy, None)), policy

    assert is_collected(online_tree)

"""Small data whose training is divided into many tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from labeltree import LabelTreeClassifier
from labeltree.datasets import make_extreme
from labeltree.model.reranked_forest import RerankedForest
from labeltree.training import division
from labeltree.training.memory_plan import own_memory

N_ROWS, N_FEATURES, N_LABELS = 1200, 300, 150
SHAPE: dict[str, Any] = {"arity": 6, "max_leaves": 8, "frequent_share": 0.2, "random_state": 3}


def divide_finely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make many tasks of little data."""
    monkeypatch.setattr(division, "ENTRIES_OF_VECTORS", 5_000)
    monkeypatch.setattr(division, "ENTRIES_OF_BLOCKS", 10_000)
    monkeypatch.setattr(division, "LABELS_OF_SUBTREES", 40)


def enough_gb() -> float:
    """Return a limit for `memory_gb`: what other tests have left in this process counts too."""
    return own_memory() / 1e9 + 0.2


def training_data() -> tuple[Any, Any]:
    """Return X and y."""
    made = make_extreme(N_LABELS, N_ROWS, n_features=N_FEATURES, random_state=0)
    return made.X_train, made.y_train


def is_mapped(array: Any) -> bool:
    """Return whether an array is a file, or a view of one."""
    return isinstance(array, np.memmap) or (array is not None and is_mapped(getattr(array, "base", None)))


def are_same(one: LabelTreeClassifier, other: LabelTreeClassifier) -> bool:
    """Return whether two models have the same trees and weights, bit for bit, and the same reports."""
    pairs = list(zip(one.weights_, other.weights_, strict=True))
    if not all(a.tree == b.tree and _are_equal(a.arrays, b.arrays) for a, b in pairs):
        return False
    forests = one.model_.forest, other.model_.forest
    if isinstance(forests[0], RerankedForest):
        judges = [forest.judges for forest in forests]
        if not all(_are_equal(*(getattr(of, name) for of in judges)) for name in ("arrays", "map")):
            return False
    return one.training_report_ == other.training_report_


def _are_equal(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and np.array_equal(one[name], other[name]) for name in one
    )

"""Small data whose training is divided into many tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labeltree import LabelTreeClassifier
from labeltree.datasets import make_extreme
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


def are_same(one: LabelTreeClassifier, other: LabelTreeClassifier) -> bool:
    """Return whether two models have the same trees and weights, bit for bit, and the same reports."""
    for a, b in zip(one.weights_, other.weights_, strict=True):
        if a.tree != b.tree or a.arrays.keys() != b.arrays.keys():
            return False
        if not all(
            a.arrays[name].dtype == b.arrays[name].dtype and np.array_equal(a.arrays[name], b.arrays[name])
            for name in a.arrays
        ):
            return False
    return one.training_report_ == other.training_report_

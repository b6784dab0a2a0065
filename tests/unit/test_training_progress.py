"""The progress of training: it ends where it said that it would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labeltree import LabelTree, _native

pytestmark = pytest.mark.native


@pytest.mark.parametrize("train", [_native.train_blocks, _native.train_softmax], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_done_is_total_at_the_end(train: Any, n_threads: int) -> None:
    X = np.random.default_rng(0).random((60, 5), dtype=np.float32)
    labels = (np.arange(60) % 6).astype(np.int32)
    examples = _native.Examples(_native.FeatureMatrix.dense(X, False), np.arange(61), labels, 6)
    progress = _native.Progress()
    tree = LabelTree.from_nested([[0, 1, 2], [3, 4, 5]])
    train(tree.native, examples, _native.SolverOptions(n_threads=n_threads), progress)
    assert progress.done == progress.total > 0

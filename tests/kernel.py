"""The kernel's own functions, asked in plain terms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree import LabelTree, LabelTreeClassifier, _native


def kernel_probabilities(
    model: LabelTreeClassifier, X: NDArray[np.float32], row: int, tree: int = 0
) -> NDArray[np.float32]:
    """eta(x, v) of all nodes of a tree, block by block."""
    weights = model.weights_[tree]
    store = model.model_.forest.stores[tree]
    features = _native.FeatureMatrix.dense(X, model.normalize, model.dense_features_)
    blocks = range(weights.tree.n_blocks + 1)
    return np.concatenate(
        [store.probabilities(features, row, b, model.normalize_siblings) for b in blocks], dtype=np.float32
    )


def positive_rows(tree: LabelTree, rows: list[list[int]], n_threads: int) -> list[list[int]]:
    """The kernel's list of rows of every node."""
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([label for row in rows for label in row], dtype=np.int32)
    begin, found = _native.assign_to_nodes(tree.native, indptr, indices, n_threads)
    assert len(begin) == tree.n_nodes + 1
    assert begin[-1] == len(found)
    return [found[begin[v] : begin[v + 1]].tolist() for v in range(tree.n_nodes)]


def threshold_search_cost(
    model: LabelTreeClassifier, X: NDArray[np.float32], threshold: float, tau: NDArray[np.float32] | None
) -> NDArray[np.int64]:
    """How many node classifiers each row asks."""
    evaluations = np.empty(len(X), dtype=np.int64)
    features = _native.FeatureMatrix.dense(X, model.normalize, model.dense_features_)
    search = model.make_search(len(model.classes_), threshold=threshold, label_threshold=tau)
    model.model_.forest.above(features, search, evaluations)
    return evaluations

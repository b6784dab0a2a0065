"""Models that were never trained: any tree with any weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.labels.label_index import LabelIndex
from labeltree.model.block_weights import BlockWeights
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.linear_forest import LinearForest
from labeltree.model.model import Model, TrainingRecord


def tree_weights(
    tree: LabelTree, W: NDArray[np.float32], bias: NDArray[np.float32], column_type: type = np.uint16
) -> BlockWeights:
    """The weights W[node][feature] as blocks; zeros are left out."""
    feature: list[int] = []
    entry_begin: list[int] = []
    column: list[int] = []
    weight: list[float] = []
    block_begin, block_entry_begin = [0], [0]
    for siblings in [range(1), *(tree.children(v) for v in tree.inner_nodes)]:
        entry_begin.append(0)
        for f in np.flatnonzero(W[siblings].any(axis=0)):
            nonzero = np.flatnonzero(W[siblings, f])
            feature.append(int(f))
            column += nonzero.tolist()
            weight += W[siblings, f][nonzero].tolist()
            entry_begin.append(entry_begin[-1] + len(nonzero))
        block_begin.append(len(feature))
        block_entry_begin.append(len(column))
    arrays = {
        "block_begin": np.array(block_begin, dtype=np.int64),
        "block_entry_begin": np.array(block_entry_begin, dtype=np.int64),
        "feature": np.array(feature, dtype=np.int32),
        "entry_begin": np.array(entry_begin, dtype=np.uint32),
        "column": np.array(column, dtype=column_type),
        "weight": np.array(weight, dtype=np.float32),
        "bias": np.asarray(bias, dtype=np.float32),
    }
    return BlockWeights(tree, arrays)


def random_tree_weights(
    tree: LabelTree,
    n_features: int,
    rng: np.random.Generator,
    weight_type: str = "float32",
    density: float = 0.5,
    column_type: type = np.uint16,
) -> BlockWeights:
    W = rng.normal(size=(tree.n_nodes, n_features)) * (rng.random((tree.n_nodes, n_features)) < density)
    weights = tree_weights(tree, W.astype(np.float32), rng.normal(size=tree.n_nodes), column_type)
    return weights.with_weight_type(weight_type)


def replace_weights(model: LabelTreeClassifier, weights: Sequence[BlockWeights]) -> None:
    """Give a trained model other weights, or let it see that its own were changed."""
    forest = LinearForest(weights, model.n_features_in_, model.trained_link())
    model.adopt(replace(model.model_, forest=forest))


def hand_made_classifier(
    weights: Sequence[BlockWeights], n_features: int, link: str, **parameters: Any
) -> LabelTreeClassifier:
    """A classifier that takes its rows as they are and its labels from 0 on."""
    loss = {"sigmoid": "logistic", "sigmoid2": "exponential"}.get(link, "squared_hinge")
    parameters = {"normalize": False, **parameters}
    model = LabelTreeClassifier(n_trees=len(weights), loss=loss, link=link, **parameters)
    n_labels = weights[0].tree.n_labels
    forest = LinearForest(weights, n_features, link, model.weight_of_trees(len(weights)))
    reader = FeatureReader(
        type(model).__name__, bool(model.normalize), n_features, None, weights[0].dense_features
    )
    record = TrainingRecord([{} for _ in weights], model.kept_parameters())
    index, counts = LabelIndex(np.arange(n_labels)), np.zeros(n_labels, dtype=np.int64)
    return model.adopt(Model(forest, reader, index, "csr", counts, 0, record))

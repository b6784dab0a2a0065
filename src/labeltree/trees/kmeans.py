"""Trees by hierarchical k-means over label vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels import LabelRows
from labeltree.trees.tree import LabelTree


def kmeans_tree(
    features: _native.FeatureMatrix,
    labels: LabelRows,
    *,
    arity: int,
    max_leaves: int,
    max_depth: int | None,
    balanced: bool,
    frequent_share: float,
    label_vector_prune: float,
    sample_weight: NDArray[np.float32] | None,
    seed: int,
    n_threads: int,
    progress: _native.Progress,
) -> LabelTree:
    """Cluster labels that occur in similar examples together; see `LabelTreeClassifier` for the parameters."""
    options = _native.ClusteringOptions()
    options.arity = arity
    options.max_leaves = max_leaves
    options.max_depth = max_depth or 0
    options.kmeans.balanced = balanced
    options.frequent_share = frequent_share
    options.seed = seed
    options.n_threads = n_threads
    child_begin, label = _native.cluster_labels(
        features,
        labels.indptr,
        labels.indices,
        labels.n_labels,
        sample_weight,
        label_vector_prune,
        options,
        progress,
    )
    return LabelTree(child_begin, label)

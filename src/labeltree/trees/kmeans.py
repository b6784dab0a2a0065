"""Trees by hierarchical k-means over label vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from labeltree import scikit_learn
from labeltree.labels.reading import read_labels
from labeltree.progress import Phases
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.trees.builders import builder
from labeltree.trees.kmeans_tasks import clustered_tree
from labeltree.trees.label_vectors import check_label_vectors, make_label_vectors
from labeltree.trees.parameters import check_builder
from labeltree.trees.tree import LabelTree
from labeltree.validation import check_features, check_sample_weight, n_threads

#: k-means finds its centroids on a sample of this many labels per cluster, and of no fewer than the second number.
_SAMPLE, _LEAST_SAMPLE = 128, 4096


def kmeans_tree(
    X: Any,
    y: Any,
    *,
    arity: int = 64,
    max_leaves: int = 200,
    max_depth: int | None = None,
    balanced: bool = False,
    even_levels: bool = True,
    frequent_share: float = 0.01,
    label_vectors: Any = "features",
    label_vector_prune: float = 0.01,
    normalize: bool = True,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelTree:
    """Return a tree of clusters: labels with similar vectors are near each other.

    Label ``j`` of the tree is column ``j`` of `y`. If `y` is not a matrix, it is ``classes_[j]`` of a classifier
    trained on `y`. `LabelTreeClassifier` with the same parameters and `random_state` builds this tree first.

    Parameters
    ----------
    X : sparse matrix, array or frame of shape (n_rows, n_features)
    y : labels in any form that `LabelTreeClassifier.fit` takes
    arity : int
        Number of clusters that the labels of a node are split into. It is a maximum if `balanced` and `even_levels`.
    max_leaves : int
        Maximum number of labels in a leaf cluster.
    max_depth : int, optional
        Maximum number of edges from the root to a label. Clusters at this limit are not split further.
    balanced : bool
        Whether clusters have equal size, as in Parabel, or the size of their topics, as in Bonsai.
    even_levels : bool
        With `balanced`, use the smallest number of clusters that makes the tree no deeper, so that all leaf clusters
        are nearly full. If False, every node has exactly `arity` clusters, as in the paper: those of the last level may
        be small. Unbalanced trees always split like this.
    frequent_share : float
        Minimum share of a node's examples that makes a label frequent. A frequent label is a child of the node, beside
        the clusters of the other labels. 0 means that no label is frequent.
    label_vectors : {"features", "cooccurrence", "both"} or matrix of shape (n_labels, n_dimensions)
        The vectors that labels are clustered by, scaled to unit length: the sum of a label's examples, the number of
        co-occurrences with every label, both side by side, or given vectors in the order of the labels. A label with a
        zero vector is put into any cluster with room.
    label_vector_prune : float
        Minimum size of an entry in a computed label vector. Smaller entries are dropped.
    normalize : bool
        Scale every row of X to unit length.
    sample_weight : array of shape (n_rows,), optional
        The weight of each row in computed label vectors.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The tree does not depend on it.
    random_state : int, RandomState or None
        The seed.

    Examples
    --------
    >>> from labeltree.trees import kmeans_tree
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.1, 0.9]]
    >>> kmeans_tree(X, [[0], [1], [2], [3]], arity=2, max_leaves=2, frequent_share=0, random_state=0).to_nested()
    [[0, 2], [1, 3]]
    >>> near = [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> kmeans_tree(X, [[0], [1], [2], [3]], arity=2, max_leaves=2, frequent_share=0, label_vectors=np.array(near),
    ...             random_state=0).to_nested()
    [[2, 3], [0, 1]]
    """
    options: dict[str, Any] = {
        "arity": arity,
        "max_leaves": max_leaves,
        "max_depth": max_depth,
        "balanced": balanced,
        "even_levels": even_levels,
        "frequent_share": frequent_share,
        "label_vectors": label_vectors,
        "label_vector_prune": label_vector_prune,
    }
    check_builder("kmeans_tree", **options, normalize=normalize)
    features = check_features(scikit_learn.BaseEstimator(), X, normalize=normalize, reset=True)
    labels = read_labels(y)
    if features.n_rows != labels.n_rows:
        raise ValueError(
            f"X and y must have the same number of rows, but have {features.n_rows} and {labels.n_rows}"
        )
    check_label_vectors(label_vectors, labels.n_labels)
    weight = check_sample_weight(sample_weight, labels.n_rows)
    return cluster_labels(
        Examples(features, labels, weight),
        **options,
        random_state=int(
            scikit_learn.check_random_state(random_state).randint(np.iinfo(np.int32).max, size=1)[0]
        ),
        run=Run(n_threads(n_jobs), Phases(None)),
    )


@builder("kmeans", balanced=True, even_levels=True)
@builder("exact_kmeans", balanced=True, even_levels=False)
@builder("unbalanced_kmeans", balanced=False, even_levels=True)
def cluster_labels(
    examples: Examples,
    *,
    arity: int,
    max_leaves: int,
    max_depth: int | None,
    balanced: bool,
    even_levels: bool,
    frequent_share: float,
    label_vectors: Any,
    label_vector_prune: float,
    random_state: int,
    run: Run,
) -> LabelTree:
    """Return the tree of `kmeans_tree` for arguments that are checked already."""
    options = {
        "arity": arity,
        "max_leaves": max_leaves,
        "max_depth": max_depth or 0,
        "balanced": balanced,
        "even_levels": even_levels,
        "frequent_share": frequent_share,
        "sample": max(_SAMPLE, _LEAST_SAMPLE // arity),
        "seed": random_state,
    }
    vectors = make_label_vectors(label_vectors, label_vector_prune, examples, run)
    return clustered_tree(vectors, examples, options, run, are_computed=isinstance(label_vectors, str))

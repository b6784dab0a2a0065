"""The levels of the tree at which true labels are lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray, LabelSets
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

FloatArray = NDArray[np.float64]

#: Relative rounding error of products along a path.
ROUNDING = 1e-5


@dataclass(frozen=True)
class LostLabels:
    """True labels that are not among the best k of their row, counted by the level at which they fall behind.

    Attributes
    ----------
    k : int
    n_true, n_found : int
        The number of pairs of a row and a true label, and of pairs whose label is among the best k.
    n_lost : array of shape (n_levels,)
        The number of other pairs whose path is less probable than the k-th best label from this level on.
    n_left_out : int
        The number of other pairs that are probable enough even at the leaf: the beam was too narrow to find them.
    mean_probability : array of shape (n_levels,)
        The mean probability of a node given its parent, over true labels with a node at this level.
    """

    k: int
    n_true: int
    n_found: int
    n_lost: IntArray
    n_left_out: int
    mean_probability: FloatArray


def lost_labels(
    tree: LabelTree,
    scores: NodeScores,
    truth: LabelSets,
    ranking: NDArray[np.int32],
    probabilities: NDArray[np.float32],
) -> LostLabels:
    """Follow the path of every true label and count where it falls behind.

    Parameters
    ----------
    tree : LabelTree
    scores : NodeScores
        The probabilities that its nodes give the rows.
    truth : LabelSets
    ranking, probabilities : arrays of shape (n_rows, k)
        The best labels of each row by this tree, -1 for none, and their probabilities.
    """
    conditional = path_probabilities(tree, scores, truth)
    found = (ranking[truth.rows] == truth.labels[:, None]).any(axis=1)
    bar = np.where(ranking[:, -1] >= 0, probabilities[:, -1], 0)[truth.rows]
    level = fallen_behind(np.nancumprod(conditional, axis=1), bar)
    depth = tree.depth_of_node[tree.leaf_of_label[truth.labels]]
    level = np.minimum(level, depth)
    there = ~np.isnan(conditional)
    return LostLabels(
        k=ranking.shape[1],
        n_true=len(truth.labels),
        n_found=int(found.sum()),
        n_lost=np.bincount(level[~found & (level >= 0)], minlength=tree.depth + 1),
        n_left_out=int((~found & (level < 0)).sum()),
        mean_probability=np.nansum(conditional, axis=0) / np.maximum(there.sum(axis=0), 1),
    )


def path_probabilities(tree: LabelTree, scores: NodeScores, truth: LabelSets) -> FloatArray:
    """Return the probability of each node given its parent, along the path of every true pair.

    Returns
    -------
    array of shape (n_pairs, depth + 1)
        From the root down; NaN below the leaf.
    """
    nodes = path_nodes(tree, truth.labels)
    keys = truth.rows[:, None] * tree.n_nodes + nodes
    # The positive nodes of a row are the nodes on the paths of its labels, so the rows of the scores are those of keys.
    known = np.unique(keys[nodes >= 0])
    order = np.lexsort((scores.node[scores.positive], known // tree.n_nodes))
    probability = scores.probability[scores.positive][order].astype(np.float64)
    at = np.searchsorted(known, keys)
    return np.where(nodes >= 0, probability[np.minimum(at, len(known) - 1)], np.nan)


def path_nodes(tree: LabelTree, labels: IntArray) -> IntArray:
    """Return the nodes on the path of each label, from the root down, -1 below the leaf: (n_labels, depth + 1).

    Examples
    --------
    >>> import numpy as np
    >>> path_nodes(LabelTree.from_nested([[0, 1], 2]), np.array([1, 2]))
    array([[ 0,  1,  4],
           [ 0,  2, -1]])
    """
    nodes = np.full((len(labels), tree.depth + 1), -1, dtype=np.int64)
    node = tree.leaf_of_label[labels].astype(np.int64)
    for _ in range(tree.depth + 1):
        there = node >= 0
        nodes[there, tree.depth_of_node[node[there]]] = node[there]
        node[there] = tree.parent[node[there]]
    return nodes


def fallen_behind(path: NDArray[np.floating], bar: NDArray[np.floating]) -> IntArray:
    """Return the first level where a path is less probable than the bar, the last if it equals the bar, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> fallen_behind(np.array([[1, 0.5, 0.1], [1, 0.9, 0.3], [1, 0.9, 0.8]]), np.array([0.6, 0.3, 0.3]))
    array([ 1,  2, -1])
    """
    below = path < bar[:, None] * (1 - ROUNDING)
    below[:, -1] |= path[:, -1] <= bar * (1 + ROUNDING)
    return np.where(below.any(axis=1), below.argmax(axis=1), -1)

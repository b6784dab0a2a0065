"""Where on the path from the root true labels are lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray, LabelSets
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

FloatArray = NDArray[np.float64]

#: Products along a path differ by so much, relative to each other, without meaning anything.
ROUNDING = 1e-5


@dataclass(frozen=True)
class LostLabels:
    """True labels that are not among the best k of their row, by the level of the tree at which they fall behind.

    Attributes
    ----------
    k : int
    n_true, n_found : int
        Pairs of a row and a true label, and those of them where the label is among the best k.
    n_lost : array of shape (n_levels,)
        Of the others, those whose path is less probable than the k-th best label from this level on.
    n_left_out : int
        Those that are probable enough at the leaf, too: a beam that was too narrow has left them out.
    mean_probability : array of shape (n_levels,)
        The mean probability of a node given its parent, over true labels that get there.
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
    """Follow the path of every true label.

    Parameters
    ----------
    tree : LabelTree
    scores : NodeScores
        What its nodes say about the rows.
    truth : LabelSets
    ranking, probabilities : arrays of shape (n_rows, k)
        The best labels of each row by this tree, -1 for none, and how probable they are.
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
    """The probability of each node given its parent along the path of every true pair.

    Returns
    -------
    array of shape (n_pairs, depth + 1)
        From the root on; NaN below the leaf.
    """
    nodes = path_nodes(tree, truth.labels)
    keys = truth.rows[:, None] * tree.n_nodes + nodes
    # All positive nodes of a row are on the paths of its labels, so that their number tells rows apart.
    known = np.unique(keys[nodes >= 0])
    positive = scores.positive
    row = np.repeat(np.arange(truth.n_rows), np.bincount(known // tree.n_nodes, minlength=truth.n_rows))
    said_about = row * tree.n_nodes + scores.node[positive]
    order = np.argsort(said_about)
    said = scores.probability[positive][order].astype(np.float64)
    at = np.searchsorted(said_about[order], keys)
    return np.where(nodes >= 0, said[np.minimum(at, len(said) - 1)], np.nan)


def path_nodes(tree: LabelTree, labels: IntArray) -> IntArray:
    """The nodes on the path of each label, from the root on, and -1 below the leaf: (n_labels, depth + 1).

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
    """The first level at which the probability of a path is below the bar; the last if it is the bar, else -1.

    Examples
    --------
    >>> import numpy as np
    >>> fallen_behind(np.array([[1, 0.5, 0.1], [1, 0.9, 0.3], [1, 0.9, 0.8]]), np.array([0.6, 0.3, 0.3]))
    array([ 1,  2, -1])
    """
    below = path < bar[:, None] * (1 - ROUNDING)
    below[:, -1] |= path[:, -1] <= bar * (1 + ROUNDING)
    return np.where(below.any(axis=1), below.argmax(axis=1), -1)

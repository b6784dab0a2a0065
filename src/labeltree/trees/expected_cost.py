"""The cost of a tree on a data set, before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.trees.training_cost import sum_over_positive_nodes, training_cost

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree


#: The number of siblings that one pass over the features of a row trains or evaluates.
_SIBLINGS_PER_PASS = 32


@dataclass(frozen=True)
class TreeCost:
    """The cost of a tree, as means over the rows of a data set.

    Training and an ideal search cost the same. An ideal search opens only the nodes above the row's labels, so it
    evaluates the nodes that learn from the row. A real search evaluates more nodes if the model is less certain.

    Attributes
    ----------
    nodes : float
        Nodes that learn from a row. An ideal search evaluates the same nodes.
    blocks : float
        Blocks of siblings that learn from a row; nodes that an ideal search opens.
    passes : float
        Passes over a row's features, which take most of the time: one for every 32 siblings of a block, rounded up.
        A block of two costs about as much as a block of 32.
    label_depth : float
        Edges from the root to a label of a row.
    depth : int
        Edges from the root to the lowest label.
    multiplications : float or None
        Features times nodes: the arithmetic of an ideal search or of one training pass over the rows. None without
        features.
    feature_visits : float or None
        Features times passes. None without features.
    """

    nodes: float
    blocks: float
    passes: float
    label_depth: float
    depth: int
    multiplications: float | None = None
    feature_visits: float | None = None

    def __str__(self) -> str:
        work = ""
        if self.multiplications is not None:
            work = (
                f", {self.multiplications:.4g} multiplications and {self.feature_visits:.4g} feature visits"
            )
        return (
            f"{self.nodes:.4g} nodes, {self.blocks:.4g} blocks and {self.passes:.4g} passes a row{work}; "
            f"labels at depth {self.label_depth:.4g} of {self.depth}"
        )


def expected_cost(tree: LabelTree, y: Any, X: Any = None) -> TreeCost:
    """Return the cost of training and prediction with this tree on a data set, without training.

    Parameters
    ----------
    y : sparse matrix or array of shape (n_rows, n_labels)
        The labels of each row: the entries that are not zero. A sample of the rows is enough.
    X : sparse matrix or array of shape (n_rows, n_features), optional
        The features of each row, for the work in multiplications.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> y = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]])
    >>> print(LabelTree.from_nested([0, [1, [2, 3]]]).expected_cost(y))
    4.5 nodes, 1.75 blocks and 1.75 passes a row; labels at depth 1.6 of 3
    """
    n_children = np.diff(tree.child_begin).astype(np.int64)
    nodes = training_cost(tree, y)
    if nodes.size == 0:
        raise ValueError("y must have at least one row, but has none")
    blocks = sum_over_positive_nodes(tree, y, (n_children > 0).astype(np.int64))
    passes = sum_over_positive_nodes(tree, y, -(-n_children // _SIBLINGS_PER_PASS))
    occurrences = np.asarray((y != 0).sum(axis=0)).ravel()
    label_depth = tree.depth_of_node[tree.leaf_of_label]
    n_features = None if X is None else _features_per_row(X, nodes.size)
    return TreeCost(
        nodes=float(nodes.mean()),
        blocks=float(blocks.mean()),
        passes=float(passes.mean()),
        label_depth=float(np.average(label_depth, weights=occurrences)) if occurrences.any() else 0.0,
        depth=tree.depth,
        multiplications=None if n_features is None else float((nodes * n_features).mean()),
        feature_visits=None if n_features is None else float((passes * n_features).mean()),
    )


def cheapest_tree(trees: Sequence[LabelTree], y: Any, X: Any = None) -> LabelTree:
    """Return the tree with the fewest passes per row on a data set, the first one in a tie.

    With `X` a row counts by its features. A cheap tree is not always a good tree: similar labels should be near each
    other, which the cost does not measure.

    Parameters
    ----------
    trees : sequence of LabelTree
    y : sparse matrix or array of shape (n_rows, n_labels)
        The labels of each row: the entries that are not zero. A sample of the rows is enough.
    X : sparse matrix or array of shape (n_rows, n_features), optional

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.trees import LabelTree, cheapest_tree, huffman_tree, random_tree
    >>> y = np.eye(1000)[np.arange(2000) ** 2 % 1000]
    >>> trees = [LabelTree.flat(1000), random_tree(1000, random_state=0), huffman_tree(y.sum(axis=0))]
    >>> [tree.expected_cost(y).passes for tree in trees]
    [32.0, 5.0, 1.656]
    >>> cheapest_tree(trees, y)
    LabelTree(n_labels=1000, n_nodes=1033, depth=3, arity=32)
    """
    if len(trees) == 0:
        raise ValueError("trees must hold at least one tree, but is empty")
    costs = [expected_cost(tree, y, X) for tree in trees]
    work = [cost.passes if cost.feature_visits is None else cost.feature_visits for cost in costs]
    return trees[int(np.argmin(work))]


def _features_per_row(X: Any, n_rows: int) -> NDArray[np.int64]:
    if getattr(X, "ndim", None) != 2 or X.shape[0] != n_rows:
        raise ValueError(
            f"X must be a sparse matrix or a 2-d array with a row for each of the {n_rows} rows of y, "
            f"but is of type {type(X).__name__} and shape {getattr(X, 'shape', None)}"
        )
    n_features = (X != 0).sum(axis=1) if sp.issparse(X) else np.count_nonzero(X, axis=1)
    return np.asarray(n_features).ravel().astype(np.int64)

"""What a tree costs on a data set, told before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labeltree.trees.training_cost import sum_over_positive_nodes, training_cost

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree


@dataclass(frozen=True)
class TreeCost:
    """The cost of a tree, as means over the rows of a data set.

    Training and an ideal search cost the same: the nodes that learn from a row are those that a search asks which
    opens just the nodes above the row's labels. A real search asks more, the more the less sure the model is.

    Attributes
    ----------
    nodes : float
        Nodes that learn from a row; node classifiers that an ideal search asks to find its labels.
    blocks : float
        Blocks of siblings that learn from a row; how often the row's features are gone through.
    label_depth : float
        Edges from the root to a label of a row.
    depth : int
        Edges from the root to the lowest label.
    multiplications : float or None
        Multiplications and additions to ask a row's nodes once, its features times its nodes: of an ideal search, and
        of a pass of training. None if the features are not known.
    """

    nodes: float
    blocks: float
    label_depth: float
    depth: int
    multiplications: float | None = None

    def __str__(self) -> str:
        work = "" if self.multiplications is None else f", {self.multiplications:.4g} multiplications"
        blocks = f"{self.blocks:.4g} block{'' if self.blocks == 1 else 's'}"
        return (
            f"{self.nodes:.4g} nodes and {blocks} a row{work}, "
            f"labels at depth {self.label_depth:.4g} (at most {self.depth})"
        )


def expected_cost(tree: LabelTree, y: Any, X: Any = None) -> TreeCost:
    """Return the cost of a tree; see ``LabelTree.expected_cost``."""
    nodes = training_cost(tree, y)
    if nodes.size == 0:
        raise ValueError("y must have at least one row, but has none")
    blocks = sum_over_positive_nodes(tree, y, (~tree.is_leaf).astype(np.int64))
    occurrences = np.asarray((y != 0).sum(axis=0)).ravel()
    depths = tree.depth_of_node[tree.leaf_of_label]
    return TreeCost(
        nodes=float(nodes.mean()),
        blocks=float(blocks.mean()),
        label_depth=float(np.average(depths, weights=occurrences)) if occurrences.any() else 0.0,
        depth=tree.depth,
        multiplications=None if X is None else float((nodes * _features_per_row(X, nodes.size)).mean()),
    )


def cheapest_tree(trees: Sequence[LabelTree], y: Any, X: Any = None) -> LabelTree:
    """Return the tree that costs least on a data set: of those given, the first with the fewest nodes a row.

    With `X` a row counts by its features: the tree with the fewest multiplications.

    Parameters
    ----------
    trees : sequence of LabelTree
    y : sparse matrix or array of shape (n_rows, n_labels)
    X : sparse matrix or array of shape (n_rows, n_features), optional

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.trees import LabelTree, cheapest_tree
    >>> trees = [LabelTree.flat(4), LabelTree.from_nested([[0, 1], [2, 3]]), LabelTree.from_nested([0, [1, [2, 3]]])]
    >>> cheapest_tree(trees, np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])).to_nested()
    [0, [1, [2, 3]]]
    """
    if len(trees) == 0:
        raise ValueError("trees must hold at least one tree, but is empty")
    costs = [expected_cost(tree, y, X) for tree in trees]
    work = [cost.nodes if cost.multiplications is None else cost.multiplications for cost in costs]
    return trees[int(np.argmin(work))]


def _features_per_row(X: Any, n_rows: int) -> NDArray[np.int64]:
    if getattr(X, "ndim", None) != 2 or X.shape[0] != n_rows:
        raise ValueError(
            f"X must be a sparse matrix or a 2-d array with a row for each of the {n_rows} rows of y, "
            f"but is of type {type(X).__name__} and shape {getattr(X, 'shape', None)}"
        )
    n_features = (X != 0).sum(axis=1) if sp.issparse(X) else np.count_nonzero(X, axis=1)
    return np.asarray(n_features).ravel().astype(np.int64)

"""The targets of a tree's nodes: what they learn from examples."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.exchange.blocks import NodeBlocks, Paths
from labeltree.labels.reading import read_known_labels
from labeltree.trees import LabelTree
from labeltree.wording import count_text


@dataclass(frozen=True)
class NodeTargets(NodeBlocks):
    """The blocks that each row trains, and the target of every entry.

    Attributes
    ----------
    target : array of shape (n_entries,), float32
        1 where the row has a label below the node, else 0.
    """

    target: NDArray[np.float32]


def node_targets(tree: LabelTree, y: Any, *, classes: Collection[Any] | None = None) -> NodeTargets:
    """Return the nodes that learn from each row, and their targets.

    An example trains the root and the children of every node with one of its labels below (algorithm 2 of the paper).
    Only for these nodes it is an example of P(node | parent). `tree.training_cost(y)` counts them.

    Parameters
    ----------
    tree : LabelTree
    y : labels of a batch of rows, in any form that `LabelTreeClassifier.fit` takes
        A 0/1 matrix has a column for every label of the tree. Rows without labels train the root alone.
    classes : array of shape (n_labels,), optional
        The names of the tree's labels, if `y` has lists of labels or one label per row. By default labels are their
        numbers in the tree.

    Returns
    -------
    NodeTargets
        Ordered by row and then by node.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], [2, 3]])
    >>> targets = node_targets(tree, [["cat"], []], classes=["ape", "cat", "dog", "eel"])
    >>> for row, node, target in zip(targets.row, targets.node, targets.target):
    ...     print(row, node, target)
    0 0 1.0
    0 1 1.0
    0 2 0.0
    0 3 0.0
    0 4 1.0
    1 0 0.0
    """
    if classes is not None and len(classes) != tree.n_labels:
        raise ValueError(
            f"classes must name the tree's {tree.n_labels} labels, got {count_text(len(classes), 'name')}"
        )
    indptr, labels = read_known_labels(y, np.arange(tree.n_labels) if classes is None else classes)
    n_rows = len(indptr) - 1
    paths = Paths(tree, np.repeat(np.arange(n_rows), np.diff(indptr)), labels, n_rows)
    target = np.zeros(len(paths.blocks), dtype=np.float32)
    target[paths.entries(paths.row, paths.node)] = 1
    return NodeTargets(**vars(paths.blocks), target=target)

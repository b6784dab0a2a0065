"""The contribution of each node to an upper bound on the error of label probabilities.

The mean over labels of the expected error ``|P(label | x) - estimate|`` is at most the sum over nodes of the share of
rows at the parent, times the share of labels below, times the expected error of the node there (the paper's bound on
the L1 error). That error is at most the node's expected log loss: ``-log p >= 1 - p``. So the log loss can replace it,
and the sum stays an upper bound. An unknown part of the loss is noise that no classifier can avoid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.measures import LEAST_PROBABILITY
from labeltree.metrics.label_sets import IntArray
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class NodeCosts:
    """The contribution of each node of a tree to the bound.

    Attributes
    ----------
    at_parent : array of shape (n_nodes,)
        The share of rows with a label below the parent; 1 for the root.
    n_labels : array of shape (n_nodes,)
        The number of labels below each node.
    loss : array of shape (n_nodes,)
        The mean log loss over rows at the parent, in nats; 0 if there are no rows.
    cost : array of shape (n_nodes,)
        The product of these, divided by the number of labels of the tree.
    """

    at_parent: FloatArray
    n_labels: IntArray
    loss: FloatArray
    cost: FloatArray

    @property
    def total(self) -> float:
        """The bound: the sum over all nodes."""
        return float(self.cost.sum())

    def costliest(self, n: int) -> IntArray:
        """Return the n nodes with the largest contributions, without nodes that contribute nothing."""
        order = np.argsort(-self.cost, kind="stable")[:n]
        return order[self.cost[order] > 0]

    def by_level(self, tree: LabelTree) -> FloatArray:
        """Return the contribution of the nodes of each level, from the root down."""
        return np.asarray(np.bincount(tree.depth_of_node, self.cost, tree.depth + 1), dtype=np.float64)


def node_costs(tree: LabelTree, scores: NodeScores, n_rows: int) -> NodeCosts:
    """Compute the bound from the probabilities that the nodes of a tree give held-out rows.

    Parameters
    ----------
    tree : LabelTree
    scores : NodeScores
        The scores of all rows, at the nodes whose parent is positive for the row.
    n_rows : int
    """
    of_truth = np.where(scores.positive, scores.probability, 1 - scores.probability.astype(np.float64))
    lost = -np.log(np.maximum(of_truth, LEAST_PROBABILITY)) * scores.weight
    loss_sum = np.bincount(scores.node, lost, minlength=tree.n_nodes)
    n_positive = np.bincount(scores.node[scores.positive], minlength=tree.n_nodes)
    at_parent = np.ones(tree.n_nodes)
    at_parent[1:] = n_positive[tree.parent[1:]] / n_rows
    n_labels = tree.n_labels_of_node.astype(np.int64)
    n_at_parent = at_parent * n_rows
    loss = np.divide(loss_sum, n_at_parent, out=np.zeros(tree.n_nodes), where=n_at_parent > 0)
    return NodeCosts(at_parent, n_labels, loss, at_parent * n_labels * loss / tree.n_labels)

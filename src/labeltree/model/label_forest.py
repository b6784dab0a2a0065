"""`LabelForest`: what is true of every forest of label trees."""

from __future__ import annotations

from typing import Any

from labeltree.trees import LabelTree


class LabelForest:
    """A base class for forests of label trees. `weights` has an object per tree: the tree and its trained nodes."""

    has_label_trees = True
    has_node_scores = True
    gives_probabilities = True

    weights: list[Any]

    @property
    def exact_best(self) -> bool:
        """Whether there is one tree: the best label on average need not be the best of any tree."""
        return len(self.weights) == 1

    @property
    def n_labels(self) -> int:
        return int(self.weights[0].tree.n_labels)

    @property
    def n_trees(self) -> int:
        return len(self.weights)

    @property
    def trees(self) -> list[LabelTree]:
        return [of_tree.tree for of_tree in self.weights]

    def shapes(self) -> list[LabelTree]:
        return self.trees

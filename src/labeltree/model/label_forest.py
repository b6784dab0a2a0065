"""`LabelForest`: what is true of every forest of label trees."""

from __future__ import annotations

from typing import Any

from labeltree.model.candidates import is_exact
from labeltree.model.forest import Search
from labeltree.trees import LabelTree


class LabelForest:
    """A base class for forests of label trees. `weights` has an object per tree: the tree and its trained nodes."""

    has_label_trees = True
    has_node_scores = True
    gives_probabilities = True

    weights: list[Any]

    def exact_best(self, search: Search) -> bool:
        """Return whether there is one tree, or a search that finds the best label though it is the best of no tree."""
        return self.n_trees == 1 or is_exact(search, self.n_trees)

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

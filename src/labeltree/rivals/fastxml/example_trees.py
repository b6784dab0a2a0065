"""`ExampleTrees`: trees over examples as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree import _native

#: The arrays of the trees and their types; docs/model-format.md describes them.
TREE_ARRAYS = {
    "tree_begin": "int64",
    "child": "int32",
    "weight_begin": "int64",
    "feature": "int32",
    "weight": "float32",
    "bias": "float32",
    "pair_begin": "int64",
    "label": "int32",
    "probability": "float32",
}

#: The arrays of the means of the labels, which only PfastreXML has.
MEAN_ARRAYS = {
    "mean_begin": "int64",
    "mean_feature": "int32",
    "mean_value": "float32",
    "mean_square": "float32",
}


class ExampleTreeShape(NamedTuple):
    """The size of a tree over examples."""

    n_nodes: int
    n_leaves: int
    depth: int
    arity: int = 2


class Split(NamedTuple):
    """One step of a row through a tree: the node, the chosen child, and the score, which is positive for that child."""

    node: int
    child: int
    score: float
    sign: int


@dataclass(frozen=True)
class ExampleTrees:
    """All trees of a model, and of PfastreXML the means of the labels."""

    arrays: Mapping[str, NDArray[Any]]
    n_labels: int
    n_features: int
    dense_features: tuple[int, int] = (0, 0)

    @property
    def n_trees(self) -> int:
        return len(self.arrays["tree_begin"]) - 1

    @property
    def n_nodes(self) -> int:
        return len(self.arrays["child"])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    def forest(self, gamma: float = 0.0, alpha: float = 1.0) -> _native.ExampleForest:
        """Return the kernel's forest; raise `ModelFileError` if the arrays contradict each other."""
        return _native.ExampleForest(dict(self.arrays), self.n_labels, self.n_features, gamma, alpha)

    def shapes(self) -> list[ExampleTreeShape]:
        """Return the number of nodes and leaves and the depth of each tree."""
        begin, child = self.arrays["tree_begin"].tolist(), self.arrays["child"]
        return [_shape(child[a:b], a) for a, b in pairwise(begin)]

    def splits(self, tree: int, values: Mapping[int, float]) -> Iterator[Split]:
        """Yield the path of a row through a tree; `values` has the values of its features."""
        a = self.arrays
        node = int(a["tree_begin"][tree])
        while (child := int(a["child"][node])) != 0:
            features, weights = self.separator(node)
            score = float(a["bias"][node]) + sum(
                weight * values.get(feature, 0.0) for feature, weight in zip(features, weights, strict=True)
            )
            sign = 1 if score >= 0 else -1
            yield Split(node, child + (sign > 0), sign * score, sign)
            node = child + (sign > 0)

    def separator(self, node: int) -> tuple[list[int], list[float]]:
        """Return the features and weights of a node."""
        begin, end = self.arrays["weight_begin"][node : node + 2].tolist()
        return self.arrays["feature"][begin:end].tolist(), self.arrays["weight"][begin:end].tolist()

    def leaf(self, node: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the labels and probabilities of a leaf."""
        begin, end = self.arrays["pair_begin"][node : node + 2].tolist()
        return self.arrays["label"][begin:end], self.arrays["probability"][begin:end]

    def n_labels_below(self, node: int) -> int:
        """Return the number of labels in the leaves below a node."""
        a, found = self.arrays, []
        first, last = node, node + 1
        # Nodes are numbered breadth first: the descendants on one level are contiguous.
        while first < last:
            found.append(a["label"][a["pair_begin"][first] : a["pair_begin"][last]])
            children = a["child"][first:last]
            children = children[children > 0]
            first, last = (int(children[0]), int(children[-1]) + 2) if len(children) else (0, 0)
        return len(np.unique(np.concatenate(found)))


def _shape(child: NDArray[np.int32], first: int) -> ExampleTreeShape:
    """Return the size of a tree from the children of its nodes, whose numbers begin at `first`."""
    is_inner = child > 0
    depth, begin, end = 0, 0, 1
    while True:
        children = child[begin:end][is_inner[begin:end]]
        if len(children) == 0:
            return ExampleTreeShape(len(child), int((~is_inner).sum()), depth)
        depth, begin, end = depth + 1, int(children[0]) - first, int(children[-1]) + 2 - first

"""`LinearForest`: label trees with linear node classifiers, answered by the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from labeltree import _native
from labeltree.calibration.level_maps import Calibration
from labeltree.labels.reading import LabelRows
from labeltree.model.block_weights import BlockWeights
from labeltree.model.explanation import Explanation, FeatureNames, Step, strongest
from labeltree.model.forest import Search
from labeltree.model.kernel_forest import KernelForest
from labeltree.model.label_forest import LabelForest
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

#: Of the pairs of a row and a negative node, at most about this many are scored for each tree.
NEGATIVE_NODES = 1_000_000


class LinearForest(LabelForest, KernelForest):
    """Label trees whose nodes are columns of the kernel's blocks.

    Parameters
    ----------
    weights : sequence of BlockWeights
        The weights of each tree.
    n_features : int
    link : str
        How scores become probabilities.
    tree_weight : sequence of float, optional
        How much each tree counts in the mean of their probabilities, 1 by default.
    calibration : Calibration, optional
        Maps from scores to probabilities, which replace the link.
    fused : bool
        Fuse multiplications and additions of dense features where the processor can. Answers are faster, and may differ
        in their last bits between processors.
    """

    def __init__(
        self,
        weights: Sequence[BlockWeights],
        n_features: int,
        link: str,
        tree_weight: Sequence[float] | None = None,
        calibration: Calibration | None = None,
        fused: bool = True,
    ) -> None:
        self.weights = list(weights)
        self.n_features = n_features
        self.link = link
        self.tree_weight = [1.0] * len(self.weights) if tree_weight is None else list(tree_weight)
        self.calibration = calibration
        maps = [None] * len(self.weights) if calibration is None else calibration.trees
        self.stores = [
            of_tree.store(n_features, link, level_maps, fused=fused)
            for of_tree, level_maps in zip(self.weights, maps, strict=True)
        ]
        self.native = _native.Forest(self.stores, self.tree_weight)

    def answering(self, link: str, tree_weight: Sequence[float]) -> LinearForest:
        """Return the forest with this link and these weights of its trees; this forest if nothing changes."""
        if link == self.link and tree_weight == self.tree_weight:
            return self
        return LinearForest(self.weights, self.n_features, link, tree_weight, self.calibration)

    def unfused(self) -> LinearForest:
        """Return the forest without fused operations: training that uses its answers is the same on every processor."""
        return LinearForest(
            self.weights, self.n_features, self.link, self.tree_weight, self.calibration, fused=False
        )

    def joined(self, other: LinearForest, tree_weight: Sequence[float]) -> LinearForest:
        """Return a forest with the trees of both; it has maps in place of the link if both have."""
        maps, others = self.calibration, other.calibration
        joined = None
        if maps is not None and others is not None:
            joined = Calibration(maps.method, [*maps.trees, *others.trees], source=maps.source)
        return LinearForest([*self.weights, *other.weights], self.n_features, self.link, tree_weight, joined)

    def calibrated(self, calibration: Calibration | None) -> LinearForest:
        """Return the forest with these maps in place of its link."""
        return LinearForest(self.weights, self.n_features, self.link, self.tree_weight, calibration)

    def first_tree(self) -> LinearForest:
        """Return the first tree alone, calibrated as it is here."""
        if len(self.weights) == 1:
            return self
        maps = self.calibration
        first = None if maps is None else Calibration(maps.method, maps.trees[:1], source=maps.source)
        return LinearForest(self.weights[:1], self.n_features, self.link, None, first)

    def verify(self) -> None:
        """Check the inside of every block; raises `ModelFileError` if one is damaged."""
        for store in self.stores:
            store.verify()

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        return iter(_native.Enumeration(self.native, features, 0, search).next, None)

    def explain(
        self,
        features: Any,
        label: int,
        search: Search,
        n_features: int,
        feature_names: FeatureNames,
    ) -> Explanation:
        if any(of_tree.is_joint for of_tree in self.weights):
            raise ValueError(
                "explain needs a classifier per node, but siblings='joint' trains the children of a node together, and "
                "their probabilities are no sums of contributions; train with siblings='independent'"
            )
        values = dict(zip(*(array.tolist() for array in features.row(0)), strict=True))
        paths = [
            _path(
                of_tree, store, features, values, label, search.normalize_siblings, n_features, feature_names
            )
            for of_tree, store in zip(self.weights, self.stores, strict=True)
        ]
        of_trees = [path[-1].probability_so_far for path in paths]
        return Explanation(label, float(np.average(of_trees, weights=self.tree_weight)), paths)

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> list[NodeScores]:
        return [
            _scores_of_tree(store, tree, features, labels, search, seed)
            for store, tree in zip(self.stores, self.trees, strict=True)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return LinearForest, (self.weights, self.n_features, self.link, self.tree_weight, self.calibration)


def _path(
    weights: BlockWeights,
    store: _native.BlockStore,
    features: _native.FeatureMatrix,
    values: dict[int, float],
    label: int,
    normalize_siblings: bool,
    n_features: int,
    feature_names: FeatureNames,
) -> list[Step]:
    """The steps from the root to a label in one tree."""
    tree = weights.tree
    steps: list[Step] = []
    so_far = 1.0
    block, first = 0, 0
    for node in tree.path(label).tolist():
        column = node - first
        probability = float(store.probabilities(features, 0, block, normalize_siblings)[column])
        so_far *= probability
        known = zip(*(array.tolist() for array in store.column(block, column)), strict=True)
        triples = ((feature, values[feature], weight) for feature, weight in known if feature in values)
        steps.append(
            Step(
                node=node,
                n_labels=len(tree.labels_under(node)),
                score=float(store.scores(features, 0, block)[column]),
                probability=probability,
                probability_so_far=so_far,
                bias=float(weights.arrays["bias"][node]),
                contributions=strongest(triples, n_features, feature_names),
            )
        )
        block, first = weights.block_of(node), int(tree.child_begin[node])
    return steps


def _scores_of_tree(
    store: _native.BlockStore,
    tree: LabelTree,
    features: _native.FeatureMatrix,
    labels: LabelRows,
    search: Search,
    seed: int,
) -> NodeScores:
    """The scores of all positive nodes, and of a sample of the negative ones if there are millions."""
    n_nodes = _n_scored_nodes(tree, labels, search.n_threads)
    examples = _native.Examples(features, labels.indptr, labels.indices, labels.n_labels)
    share = min(1.0, NEGATIVE_NODES / n_nodes)
    found = store.held_out_nodes(examples, search.normalize_siblings, share, seed, search.n_threads)
    positive = found["positive"].astype(bool)
    n_positive = int(positive.sum())
    n_drawn = len(positive) - n_positive
    return NodeScores(
        found["node"],
        tree.depth_of_node[found["node"]].astype(np.int64),
        found["score"],
        found["probability"],
        positive,
        np.where(positive, 1.0, (n_nodes - n_positive) / max(n_drawn, 1)),
    )


def _n_scored_nodes(tree: LabelTree, labels: LabelRows, n_threads: int) -> int:
    """The number of pairs of a row and the root, or a child of a node that is positive for the row."""
    begin, _ = _native.assign_to_nodes(tree.native, labels.indptr, labels.indices, n_threads)
    return labels.n_rows + int(np.diff(begin) @ np.diff(tree.child_begin).astype(np.int64))

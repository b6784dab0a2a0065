"""`ExampleForest`: trees over examples; the leaves that a row reaches give the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from labeltree.labels.reading import LabelRows
from labeltree.model.explanation import Explanation, FeatureNames, Step, strongest
from labeltree.model.forest import Search
from labeltree.model.kernel_forest import KernelForest
from labeltree.rivals.fastxml.example_trees import ExampleTrees, ExampleTreeShape
from labeltree.rivals.fastxml.tail import Reranking, nearness, reranked
from labeltree.trees import LabelTree


class ExampleForest(KernelForest):
    """An ensemble of trees over examples.

    A row reaches one leaf of each tree; a label that the leaf does not have gets the probability 0 from that tree. The
    options of a search for siblings, beams and missing estimates have no effect.

    Parameters
    ----------
    example_trees : ExampleTrees
    reranking : Reranking, optional
        How PfastreXML ranks the labels that the trees propose.
    """

    has_label_trees = False
    has_node_scores = False

    def __init__(self, example_trees: ExampleTrees, reranking: Reranking | None = None) -> None:
        self.example_trees = example_trees
        self.reranking = reranking
        self.native = example_trees.forest() if reranking is None else example_trees.forest(*reranking)

    @property
    def gives_probabilities(self) -> bool:
        """Whether answers are probabilities: reranked scores are not."""
        return self.reranking is None

    def exact_best(self, search: Search) -> bool:
        """Return True: every tree gives all its labels."""
        return True

    def answering(self, reranking: Reranking | None) -> ExampleForest:
        """Return the forest with this reranking; this forest if nothing changes."""
        return self if reranking == self.reranking else ExampleForest(self.example_trees, reranking)

    @property
    def n_labels(self) -> int:
        return self.example_trees.n_labels

    @property
    def n_trees(self) -> int:
        return self.example_trees.n_trees

    @property
    def trees(self) -> list[LabelTree]:
        raise AttributeError("these trees divide examples, not labels: there is no label tree")

    def shapes(self) -> list[ExampleTreeShape]:
        return self.example_trees.shapes()

    def verify(self) -> None:
        """Check the arrays of every tree; raise `ModelFileError` if one is damaged."""
        self.native.verify()

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        """Return the labels of the only row that the trees give a probability, all at once; the others have 0."""
        labels, probabilities = self.top_k(features, search.replace(k=self.n_labels))
        n_found = int((labels >= 0).sum())
        return zip(labels[0, :n_found].tolist(), probabilities[0, :n_found].tolist(), strict=True)

    def explain(
        self, features: Any, label: int, search: Search, n_features: int, feature_names: FeatureNames
    ) -> Explanation:
        # The kernel follows the same paths first, and raises if the model file is damaged.
        self.pairs(features, np.zeros(1, np.int64), np.array([label], np.int32), search)
        values = dict(zip(*(array.tolist() for array in features.row(0)), strict=True))
        trees = self.example_trees
        paths = [
            _path(trees, tree, values, label, n_features, feature_names) for tree in range(trees.n_trees)
        ]
        mean = float(np.mean([path[-1].probability_so_far for path in paths]))
        explanation = Explanation(label, mean, paths)
        if self.reranking is None:
            return explanation
        return reranked(explanation, nearness(trees, label, values, self.reranking.gamma), self.reranking)

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> NoReturn:
        raise ValueError("the nodes of trees over examples have no scores for labels")

    def __reduce__(self) -> tuple[Any, ...]:
        return ExampleForest, (self.example_trees, self.reranking)


def _path(
    trees: ExampleTrees,
    tree: int,
    values: dict[int, float],
    label: int,
    n_features: int,
    feature_names: FeatureNames,
) -> list[Step]:
    """Return the path through a tree: separators have the probability 1, the leaf that of the label."""
    first = int(trees.arrays["tree_begin"][tree])
    steps = [Step(0, trees.n_labels_below(first), 0.0, 1.0, 1.0, 0.0, ())]
    for split in trees.splits(tree, values):
        triples = (
            (feature, values[feature], split.sign * weight)
            for feature, weight in zip(*trees.separator(split.node), strict=True)
            if feature in values
        )
        steps.append(
            Step(
                split.child - first,
                trees.n_labels_below(split.child),
                split.score,
                1.0,
                1.0,
                split.sign * float(trees.arrays["bias"][split.node]),
                strongest(triples, n_features, feature_names),
            )
        )
    labels, probabilities = trees.leaf(first + steps[-1].node)
    share = float(probabilities[labels == label].sum())
    return [*steps[:-1], replace(steps[-1], probability=share, probability_so_far=share)]

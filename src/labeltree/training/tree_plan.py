"""`TreePlan`: builds and trains label trees, one after another."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from labeltree.calibration.level_maps import Calibration
from labeltree.labels.weights import read_label_weight
from labeltree.model.forest import Forest
from labeltree.model.linear_forest import LinearForest
from labeltree.model.model import Reader
from labeltree.training.examples import Examples
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe


class NodeLearner(Protocol):
    """Trains the node classifiers of a tree."""

    def train(self, tree: LabelTree, examples: Examples, seed: int, run: Run) -> tuple[Any, dict[str, int]]:
        """Return the trained nodes and a report."""

    def calibration(self) -> Calibration | None:
        """Return maps from scores to probabilities for all trained trees, if the learner fits them."""
        return None

    def facts(self) -> Mapping[str, Any]:
        """Return fitted attributes that only this learner has."""
        return {}

    def warnings(self, nodes: Sequence[Any], reports: Sequence[Mapping[str, int]]) -> list[str]:
        """Return warnings about the trained trees, for the caller of `fit`."""
        return []


@dataclass(frozen=True)
class TreePlan:
    """How to train label trees.

    Attributes
    ----------
    recipes : list of TreeRecipe
        How to build each tree.
    seeds : list of int
        The seed of each tree.
    learner : NodeLearner
        Trains the nodes.
    link : str
        Function from the scores of linear nodes to probabilities.
    tree_weight : sequence of float, optional
        Weight of each tree in the mean.
    label_weight
        The parameter `label_weight`: weights of the positive examples of each label.
    """

    recipes: list[TreeRecipe]
    seeds: list[int]
    learner: NodeLearner
    link: str
    tree_weight: Sequence[float] | None = None
    label_weight: Any = None

    def train(self, examples: Examples, run: Run) -> Trained:
        """Build and train all trees."""
        examples = replace(examples, label_weight=read_label_weight(self.label_weight, examples.labels))
        n_labels, n_trees = examples.labels.n_labels, len(self.recipes)
        for recipe in self.recipes:
            recipe.check(n_labels)
        nodes, reports, seconds = [], [], {"clustering": 0.0, "training": 0.0}
        runs = [
            replace(
                run,
                prefix=f"tree {number} of {n_trees}: " if n_trees > 1 else "",
                seconds={},
                workplace=run.workplace.inside(f"tree-{number}"),
            )
            for number in range(1, n_trees + 1)
        ]
        started = time.perf_counter()
        trees = self._grow(examples, runs)
        seconds["clustering"] = time.perf_counter() - started
        for tree, seed, tree_run in zip(trees, self.seeds, runs, strict=True):
            started = time.perf_counter()
            trained, report = self.learner.train(tree, examples, seed, tree_run)
            nodes.append(trained)
            reports.append(report)
            seconds |= tree_run.seconds
            seconds["training"] += time.perf_counter() - started - sum(tree_run.seconds.values())
        forest, reader = self.make_forest(nodes, examples)
        warnings = self.learner.warnings(nodes, reports)
        return Trained(forest, reports, seconds, self.learner.facts(), warnings, reader)

    def _grow(self, examples: Examples, runs: Sequence[Run]) -> list[LabelTree]:
        """Build all trees before the first is trained: they share label vectors, which training has no room for."""
        vectors: dict[Any, Any] = {}
        return [
            recipe.grow(examples, seed, replace(run, label_vectors=vectors))
            for recipe, seed, run in zip(self.recipes, self.seeds, runs, strict=True)
        ]

    def make_forest(self, nodes: list[Any], examples: Examples) -> tuple[Forest, Reader | None]:
        """Return the forest of trained nodes, and its reader unless `FeatureReader` reads X for it."""
        maps = self.learner.calibration()
        return LinearForest(nodes, examples.features.n_features, self.link, self.tree_weight, maps), None

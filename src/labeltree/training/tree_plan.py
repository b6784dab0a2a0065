"""`TreePlan`: label trees, one after another, each built and then trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from labeltree import _native
from labeltree.labels.weights import read_label_weight
from labeltree.model.forest import Forest
from labeltree.model.linear_forest import LinearForest
from labeltree.model.model import Reader
from labeltree.training.examples import Examples
from labeltree.training.plan import Run, Seconds, Trained
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe


class NodeLearner(Protocol):
    """Learns the node classifiers of a tree."""

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[Any, dict[str, int]]:
        """Return the trained nodes and a report; add to `seconds` what took long beside training."""

    def facts(self) -> Mapping[str, Any]:
        """Return fitted attributes that only this learner has."""

    def warnings(self, nodes: Sequence[Any], reports: Sequence[Mapping[str, int]]) -> list[str]:
        """Return what the caller of `fit` should know about the trained trees."""


@dataclass(frozen=True)
class TreePlan:
    """How to train label trees.

    Attributes
    ----------
    recipes : list of TreeRecipe
        How each tree is built.
    seeds : list of int
        The seed of each tree.
    learner : NodeLearner
        Trains the nodes.
    link : str
        How scores of linear nodes become probabilities.
    tree_weight : sequence of float, optional
        How much each tree counts.
    label_weight
        The parameter `label_weight`: how much positive examples of each label count.
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
        for recipe in self.recipes:
            recipe.check(examples.labels.n_labels)
        nodes, reports, seconds = [], [], {"clustering": 0.0, "training": 0.0}
        for number, (recipe, seed) in enumerate(zip(self.recipes, self.seeds, strict=True), 1):
            name = f"tree {number} of {len(self.recipes)}: " if len(self.recipes) > 1 else ""
            started = time.perf_counter()
            tree = run.phases.run(
                name + recipe.describe(examples.labels.n_labels),
                builder(recipe, examples, seed, run.n_threads),
            )
            built = time.perf_counter()
            beside: Seconds = {}
            of_tree, report = self.learner.train(tree, examples, seed, run, name, beside)
            nodes.append(of_tree)
            reports.append(report)
            seconds |= beside
            seconds["clustering"] += built - started
            seconds["training"] += time.perf_counter() - built - sum(beside.values())
        forest, reader = self.make_forest(nodes, examples)
        warnings = self.learner.warnings(nodes, reports)
        return Trained(forest, reports, seconds, self.learner.facts(), warnings, reader)

    def make_forest(self, nodes: list[Any], examples: Examples) -> tuple[Forest, Reader | None]:
        """Return the forest of trained nodes, and its reader if it has one of its own."""
        return LinearForest(nodes, examples.features.n_features, self.link, self.tree_weight), None


def builder(
    recipe: TreeRecipe, examples: Examples, seed: int, n_threads: int
) -> Callable[[_native.Progress], LabelTree]:
    """Return the function that builds the tree of a recipe and reports to a `Progress`."""
    return partial(recipe.grow, examples.features, examples.labels, examples.sample_weight, seed, n_threads)

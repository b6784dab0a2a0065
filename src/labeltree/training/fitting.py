"""From examples to trained trees: one after another, each grown and then trained."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from labeltree import _native
from labeltree.model.block_weights import TreeWeights
from labeltree.node_estimators.estimators import EstimatorFeatures, NodeEstimators, fit_node_estimators
from labeltree.progress import Phases
from labeltree.training.choice_of_c import choose_regularization
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe

Seconds = dict[str, float]


@dataclass(frozen=True)
class Run:
    """How much of the machine may be used, and where progress is shown."""

    n_threads: int
    phases: Phases


class NodeLearner(Protocol):
    """What learns the node classifiers of a tree."""

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[Any, dict[str, int]]:
        """The trained tree and a report; what took long beside training is added to `seconds`."""


@dataclass
class LinearLearner:
    """The kernel's linear classifiers.

    With `choose`, "auto" or "auto_per_level", C is chosen on the first tree, and `scores` says why.
    """

    settings: SolverSettings
    link: str
    choose: str | None
    scores: dict[float, Any] | None = None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[TreeWeights, dict[str, int]]:
        if self.choose is not None:
            started = time.perf_counter()
            chosen = choose_regularization(
                tree,
                examples,
                self.settings,
                self.link,
                per_level=self.choose == "auto_per_level",
                seed=seed,
                n_threads=run.n_threads,
                phases=run.phases,
            )
            self.settings, self.scores, self.choose = replace(self.settings, C=chosen.C), chosen.scores, None
            seconds["choosing_C"] = time.perf_counter() - started
        return train_tree(tree, examples, self.settings, seed, run.n_threads, run.phases, name)


@dataclass(frozen=True)
class EstimatorLearner:
    """Copies of any scikit-learn classifier, which read the rows of X themselves."""

    estimator: Any
    rows: EstimatorFeatures
    n_jobs: int | None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[NodeEstimators, dict[str, int]]:
        return fit_node_estimators(
            self.estimator,
            tree,
            self.rows,
            examples.labels,
            examples.sample_weight,
            seed,
            self.n_jobs,
            run.phases,
            name,
        )


@dataclass
class TrainedForest:
    """Trained trees, what was told of each, and how long what took."""

    weights: list[Any] = field(default_factory=list)
    reports: list[dict[str, int]] = field(default_factory=list)
    seconds: Seconds = field(default_factory=lambda: {"clustering": 0.0, "training": 0.0})


def train_forest(
    recipes: list[TreeRecipe], seeds: list[int], examples: Examples, learner: NodeLearner, run: Run
) -> TrainedForest:
    """Grow and train a tree for each recipe."""
    for recipe in recipes:
        recipe.check(examples.labels.n_labels)
    forest = TrainedForest()
    for number, (recipe, seed) in enumerate(zip(recipes, seeds, strict=True), 1):
        name = f"tree {number} of {len(recipes)}: " if len(recipes) > 1 else ""
        started = time.perf_counter()
        tree = run.phases.run(
            name + recipe.describe(examples.labels.n_labels), grower(recipe, examples, seed, run.n_threads)
        )
        grown = time.perf_counter()
        beside: Seconds = {}
        weights, report = learner.train(tree, examples, seed, run, name, beside)
        forest.weights.append(weights)
        forest.reports.append(report)
        forest.seconds |= beside
        forest.seconds["clustering"] += grown - started
        forest.seconds["training"] += time.perf_counter() - grown - sum(beside.values())
    return forest


def grower(
    recipe: TreeRecipe, examples: Examples, seed: int, n_threads: int
) -> Callable[[_native.Progress], LabelTree]:
    """What makes the tree of a recipe when it is called with a `Progress`."""
    return partial(recipe.grow, examples.features, examples.labels, examples.sample_weight, seed, n_threads)

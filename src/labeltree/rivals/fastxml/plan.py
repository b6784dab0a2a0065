"""`ExampleTreePlan`: grows trees over examples."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from labeltree import _native
from labeltree.rivals.fastxml.example_trees import ExampleTrees
from labeltree.rivals.fastxml.forest import ExampleForest
from labeltree.rivals.fastxml.tail import Propensities, Reranking
from labeltree.training.examples import Examples
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.wording import count_text


@dataclass(frozen=True)
class ExampleTreePlan:
    """How to grow an ensemble of trees over examples.

    Attributes
    ----------
    seeds : list of int
        The seed of each tree.
    options : dict
        Options of the kernel, by name.
    propensities : Propensities, optional
        Gives every label its inverse propensity as weight, as PfastreXML does.
    reranking : Reranking, optional
        Ranks labels also by the distance to their training rows, as PfastreXML does.
    """

    seeds: list[int]
    options: dict[str, Any]
    propensities: Propensities | None = None
    reranking: Reranking | None = None

    def train(self, examples: Examples, run: Run) -> Trained:
        """Grow all trees."""
        started = time.perf_counter()
        gain = None if self.propensities is None else self.propensities.inverse(examples)
        options = _native.ExampleTreeOptions(
            **self.options, normalize_gain=gain is None, n_threads=run.n_threads
        )
        arrays = run.phase(
            f"growing {count_text(len(self.seeds), 'tree')}",
            lambda progress: _native.grow_example_trees(examples.native, gain, self.seeds, options, progress),
        )
        n_rounds = arrays.pop("n_rounds")
        if self.reranking is not None:
            arrays |= run.phase(
                "averaging the examples of each label",
                lambda progress: _native.label_means(examples.native, run.n_threads, progress),
            )
        features = examples.features
        trees = ExampleTrees(arrays, examples.labels.n_labels, features.n_features, features.dense_features)
        reports = [
            {"n_leaves": shape.n_leaves, "n_passes": passes}
            for shape, passes in zip(trees.shapes(), n_rounds.tolist(), strict=True)
        ]
        forest = ExampleForest(trees, self.reranking)
        return Trained(forest, reports, {"training": time.perf_counter() - started})

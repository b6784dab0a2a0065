"""`LinearLearner`: the kernel's linear node classifiers, and the choice of C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labeltree.model.block_weights import BlockWeights
from labeltree.training.choice_of_c import choose_regularization
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, pruning_warnings, train_tree
from labeltree.training.plan import Run, Seconds
from labeltree.trees import LabelTree


@dataclass
class LinearLearner:
    """Trains linear node classifiers.

    With `choose`, "auto" or "auto_per_level", C is chosen on the first tree, and `scores` has the scores of every C
    that was tried.
    """

    settings: SolverSettings
    link: str
    choose: str | None = None
    scores: dict[float, Any] | None = None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[BlockWeights, dict[str, int]]:
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

    def facts(self) -> Mapping[str, Any]:
        return {"C_": self.settings.C, "C_scores_": self.scores} if self.settings.solver == "descent" else {}

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        found = pruning_warnings(self.settings.prune, nodes, reports)
        if self.settings.siblings == "joint" and not any(report.get("n_joint", 0) for report in reports):
            found.append(
                "siblings='joint' found no node with at most five children, so that all are independent: use a smaller "
                "arity and max_leaves, and frequent_share=0"
            )
        return found

"""`LinearLearner`: trains linear node classifiers, and chooses C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labeltree.model.block_weights import BlockWeights
from labeltree.training.choice_of_c import choose_regularization
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree, weight_warnings
from labeltree.training.plan import Run
from labeltree.training.tree_plan import NodeLearner
from labeltree.trees import LabelTree


@dataclass
class LinearLearner(NodeLearner):
    """Trains linear node classifiers.

    Attributes
    ----------
    settings : SolverSettings
    link : str
        Function from scores to probabilities.
    choose : {"auto", "auto_per_level"}, optional
        Choose C on the first tree, one for all levels or one for each; None uses the C of the settings.
    kernel : str
        The name of the kernel's function that trains all nodes of a tree.
    scores : dict, optional
        The scores of all C that were tried.
    """

    settings: SolverSettings
    link: str
    choose: str | None = None
    kernel: str = "train_blocks"
    scores: dict[float, Any] | None = None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[BlockWeights, dict[str, int]]:
        if self.choose is not None:
            started = time.perf_counter()
            per_level = self.choose == "auto_per_level"
            chosen = choose_regularization(tree, examples, self.settings, self.link, per_level, seed, run)
            self.settings, self.scores, self.choose = replace(self.settings, C=chosen.C), chosen.scores, None
            run.seconds["choosing_C"] = time.perf_counter() - started
        return train_tree(tree, examples, self.settings, seed, run, self.kernel)

    def facts(self) -> Mapping[str, Any]:
        return {"C_": self.settings.C, "C_scores_": self.scores} if self.settings.solver == "descent" else {}

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        found = weight_warnings(self.settings, nodes, reports)
        if self.settings.siblings == "joint" and not any(report.get("n_joint", 0) for report in reports):
            found.append(
                "siblings='joint' found no node with at most five children, so all classifiers are independent: use a "
                "smaller arity and max_leaves, and frequent_share=0"
            )
        return found

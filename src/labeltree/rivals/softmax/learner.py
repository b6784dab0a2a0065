"""Training of hierarchical softmax on one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree, weight_warnings
from labeltree.training.plan import Run
from labeltree.training.tree_plan import NodeLearner
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class SoftmaxLearner(NodeLearner):
    """Trains the softmax of every inner node; of the settings it reads C, tol, max_iter, bias and prune."""

    settings: SolverSettings

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[BlockWeights, dict[str, int]]:
        return train_tree(tree, examples, self.settings, seed, run, _native.train_softmax)

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        return weight_warnings(self.settings, nodes, reports)

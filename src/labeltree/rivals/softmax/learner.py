"""Training of hierarchical softmax on one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import pruning_warnings
from labeltree.training.plan import Run, Seconds
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class SoftmaxLearner:
    """Trains the softmax of every inner node.

    Attributes are the parameters of `HierarchicalSoftmaxClassifier`; `bias` is the value of the bias feature.
    """

    C: float
    tol: float
    max_iter: int
    bias: float
    prune: float

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[BlockWeights, dict[str, int]]:
        options = _native.SolverOptions(**asdict(self), seed=seed, n_threads=run.n_threads)
        arrays = run.phases.run(
            f"{name}training {tree.n_nodes:,} nodes",
            lambda progress: _native.train_softmax(tree.native, examples.native, options, progress),
        )
        report: dict[str, int] = arrays.pop("report")
        return BlockWeights.from_training(tree, arrays, examples.features.dense_features), report

    def facts(self) -> Mapping[str, Any]:
        return {}

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        return pruning_warnings(self.prune, nodes, reports)

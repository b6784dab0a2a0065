"""Training of hierarchical softmax on one tree."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from labeltree import _native
from labeltree.model.block_weights import TreeWeights
from labeltree.training.examples import Examples
from labeltree.training.fitting import Run, Seconds
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class SoftmaxLearner:
    """`HierarchicalSoftmaxClassifier`'s parameters of these names; `bias` is the value of the bias feature."""

    C: float
    tol: float
    max_iter: int
    bias: float
    prune: float

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[TreeWeights, dict[str, int]]:
        options = _native.SolverOptions(**asdict(self), seed=seed, n_threads=run.n_threads)
        arrays = run.phases.run(
            f"{name}training {tree.n_nodes:,} nodes",
            lambda progress: _native.train_softmax(tree.native, examples.native, options, progress),
        )
        report: dict[str, int] = arrays.pop("report")
        return TreeWeights.from_training(tree, arrays, examples.features.dense_features), report

"""All labels learned at once, for a margin between those of an example and all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.rivals.one_vs_rest.weight_warnings import weight_warnings
from labeltree.training.examples import Examples
from labeltree.training.plan import Run, Seconds
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class MaxMarginSettings:
    """`OneVsRestClassifier`'s parameters of these names; `bias` is the value of the bias feature, 0 for none."""

    C: float
    l1: float
    tol: float
    max_iter: int
    bias: float
    prune: float


@dataclass
class MaxMarginLearner:
    """Learns the weights of a flat tree by a sparse primal-dual solver.

    `native/rivals/one_vs_rest/max_margin.h` says what they minimise.

    Once trained, `objective` is what they came to, and the smallest value there is lies within `duality_gap` below.
    """

    settings: MaxMarginSettings
    objective: float | None = None
    duality_gap: float | None = None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run, name: str, seconds: Seconds
    ) -> tuple[BlockWeights, dict[str, int]]:
        options = _native.MaxMarginOptions(**asdict(self.settings), seed=seed, n_threads=run.n_threads)
        arrays = run.phases.run(
            f"{name}training {tree.n_labels:,} labels",
            lambda progress: _native.train_max_margin(examples.native, options, progress),
        )
        report = arrays.pop("report")
        self.objective, self.duality_gap = report.pop("objective"), report.pop("duality_gap")
        return BlockWeights.from_training(tree, arrays, examples.features.dense_features), report

    def facts(self) -> Mapping[str, Any]:
        return {"objective_": self.objective, "duality_gap_": self.duality_gap}

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        return weight_warnings(self.settings.prune, self.settings.l1, nodes, reports)

"""Training of all labels at once, with a margin between the labels of an example and all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, weight_warnings
from labeltree.training.run import Run
from labeltree.training.tree_plan import NodeLearner
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: The settings that the solver reads.
_SETTINGS = ("C", "l1", "tol", "max_iter", "bias", "prune")


@dataclass(frozen=True)
class MaxMarginLearner(NodeLearner):
    """Trains the weights of a flat tree by a sparse primal-dual solver.

    `native/rivals/one_vs_rest/max_margin.h` defines the objective.

    Attributes
    ----------
    settings : SolverSettings
        The solver reads C, l1, tol, max_iter, bias and prune.
    reached : dict
        After training: `objective_`, the value of the objective, and `duality_gap_`, its maximum distance from the
        minimum.
    """

    settings: SolverSettings
    reached: dict[str, float] = field(default_factory=dict)

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[BlockWeights, dict[str, int]]:
        given = {name: getattr(self.settings, name) for name in _SETTINGS}
        options = _native.MaxMarginOptions(**given, seed=seed, n_threads=run.n_threads)
        arrays = run.phase(
            f"training {count_text(tree.n_labels, 'label')}",
            lambda progress: _native.train_max_margin(examples.native, options, progress),
        )
        report = arrays.pop("report")
        self.reached.update({f"{name}_": report.pop(name) for name in ("objective", "duality_gap")})
        weights = BlockWeights.from_training(tree, arrays, examples.features.dense_features)
        return weights.with_weight_type(self.settings.weights, run.n_threads), report

    def facts(self) -> Mapping[str, Any]:
        return self.reached

    def warnings(self, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]) -> list[str]:
        return weight_warnings(self.settings, nodes, reports)

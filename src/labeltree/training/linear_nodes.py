"""Training of the linear node classifiers of one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.training.block_tasks import train_blocks
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.trees import LabelTree


@dataclass(frozen=True, kw_only=True)
class SolverSettings:
    """How linear classifiers are trained; every default is filled in.

    Attributes
    ----------
    solver : str
        The algorithm: "descent", an incremental solver, or of `OneVsRestClassifier` "sparse" or "max_margin".
    loss : str
        The loss that the classifiers minimise.
    penalty : {"l2", "l1"}
        The norm of the weights that is added to the loss.
    siblings : {"independent", "joint"}
        Whether the children of a node have one classifier each, or one together.
    C : float or list of float
        Weight of the examples against the penalty. A list has a value for each level of the tree, from the root down.
    tol : float
        Tolerance of the stopping criterion.
    max_iter : int
        Maximum number of passes over the examples.
    incremental : dict, optional
        The options of an incremental solver, such as `learning_rate`; None for other solvers.
    bias : float
        Value of the bias feature; 0 for classifiers without a bias.
    prune : float
        Threshold below which weights are dropped after training.
    l1 : float
        Weight of the L1 penalty of the solvers "sparse" and "max_margin".
    weights : {"float32", "bfloat16", "int8"}
        The type that trained weights are rounded to.
    """

    solver: str = "descent"
    loss: str = "squared_hinge"
    penalty: str = "l2"
    siblings: str = "independent"
    C: float | Sequence[float]
    tol: float
    max_iter: int
    incremental: Mapping[str, Any] | None = None
    bias: float
    prune: float
    l1: float = 0.0
    weights: str = "float32"

    def options(self, seed: int, n_threads: int, tree: LabelTree | None = None) -> _native.SolverOptions:
        """Return the settings for the kernel; a list of `C` needs the tree."""
        if isinstance(self.C, Sequence):
            assert tree is not None
            weight: dict[str, Any] = {"block_C": block_values(tree, self.C)}
        else:
            weight = {"C": self.C}
        return _native.SolverOptions(
            solver=getattr(_native.Solver, self.solver),
            loss=getattr(_native.Loss, self.loss),
            penalty=getattr(_native.Penalty, self.penalty),
            joint_siblings=self.siblings == "joint",
            tol=self.tol,
            max_iter=self.max_iter,
            l1=self.l1,
            bias=self.bias,
            prune=self.prune,
            seed=seed,
            n_threads=n_threads,
            **weight,
            **(self.incremental or {}),
        )


def train_tree(
    tree: LabelTree,
    examples: Examples,
    settings: SolverSettings,
    seed: int,
    run: Run,
    kernel: str = "train_blocks",
) -> tuple[BlockWeights, dict[str, int]]:
    """Train all nodes with the kernel's function of this name; return the weights and a report."""
    dense_features = examples.features.dense_features
    if kernel == "train_blocks":
        arrays, report = train_blocks(tree, examples, settings, seed, run)
        return BlockWeights(tree, arrays, dense_features), report
    options = settings.options(seed, run.n_threads, tree)
    trained = run.phase(
        f"training {tree.n_nodes:,} nodes",
        lambda progress: getattr(_native, kernel)(tree.native, examples.native, options, progress),
    )
    report = trained.pop("report")
    weights = BlockWeights.from_training(tree, trained, dense_features)
    return weights.with_weight_type(settings.weights, run.n_threads), report


def block_values(tree: LabelTree, level_values: Sequence[float]) -> list[float]:
    """Return for each block the value of the level of its nodes; the root is on level 0.

    Levels below the last value take the last value: several trees need not be equally deep.
    """
    level = np.concatenate([[0], tree.depth_of_node[tree.inner_nodes] + 1])
    values: list[float] = np.asarray(level_values)[np.minimum(level, len(level_values) - 1)].tolist()
    return values


def weight_warnings(
    settings: SolverSettings, weights: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return warnings if pruning or the L1 penalty left nearly no weights."""
    found = []
    n_kept, n_pruned = sum(w.n_weights for w in weights), sum(r["n_pruned"] for r in reports)
    if n_pruned > 1000 * max(n_kept, 1):
        found.append(
            f"prune={settings.prune:g} dropped {n_pruned:,} weights and left {n_kept:,}; features that are not scaled "
            "(normalize=False) or a small C make small weights: use a smaller prune"
        )
    if settings.l1 > 0 and n_kept + n_pruned == 0 and any(r["n_row_visits"] for r in reports):
        found.append(f"l1={settings.l1:g} left no weight at all: use a smaller l1, or a larger C")
    return found

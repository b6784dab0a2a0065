"""Training of the node classifiers of one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from labeltree import _native
from labeltree.model.block_weights import BlockWeights
from labeltree.progress import Phases
from labeltree.training.examples import Examples
from labeltree.training.solvers import IncrementalSettings
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class SolverSettings:
    """`LabelTreeClassifier`'s parameters of these names; `bias` is the value of the bias feature, 0 for none.

    `OneVsRestClassifier` has another solver, "sparse", with a parameter `l1`.

    `C` is a number, or one for each level of the tree, from the root down.
    """

    solver: str
    loss: str
    penalty: str
    siblings: str
    C: float | Sequence[float]
    tol: float
    max_iter: int
    incremental: IncrementalSettings | None
    bias: float
    prune: float
    l1: float = 0.0


def solver_options(
    settings: SolverSettings, seed: int, n_threads: int, tree: LabelTree | None = None
) -> _native.SolverOptions:
    """Return the settings as the kernel wants them; a `C` per level needs the tree."""
    if isinstance(settings.C, Sequence):
        assert tree is not None
        regularization: dict[str, Any] = {"block_C": block_values(tree, settings.C)}
    else:
        regularization = {"C": settings.C}
    return _native.SolverOptions(
        solver=getattr(_native.Solver, settings.solver),
        loss=getattr(_native.Loss, settings.loss),
        penalty=getattr(_native.Penalty, settings.penalty),
        joint_siblings=settings.siblings == "joint",
        tol=settings.tol,
        max_iter=settings.max_iter,
        l1=settings.l1,
        **({} if settings.incremental is None else asdict(settings.incremental)),
        **regularization,
        bias=settings.bias,
        prune=settings.prune,
        seed=seed,
        n_threads=n_threads,
    )


def train_tree(
    tree: LabelTree,
    examples: Examples,
    settings: SolverSettings,
    seed: int,
    n_threads: int,
    phases: Phases,
    name: str = "",
) -> tuple[BlockWeights, dict[str, Any]]:
    """Train all nodes; returns the weights and the kernel's report."""
    options = solver_options(settings, seed, n_threads, tree)
    arrays = phases.run(
        f"{name}training {tree.n_nodes:,} nodes",
        lambda progress: _native.train_blocks(tree.native, examples.native, options, progress),
    )
    report = arrays.pop("report")
    return BlockWeights.from_training(tree, arrays, examples.features.dense_features), report


def block_values(tree: LabelTree, level_values: Sequence[float]) -> list[float]:
    """For each block the value of the level that its nodes are on; the root is on level 0.

    Below the last given level its value holds: several trees need not be equally deep.
    """
    level = np.concatenate([[0], tree.depth_of_node[tree.inner_nodes] + 1])
    values: list[float] = np.asarray(level_values)[np.minimum(level, len(level_values) - 1)].tolist()
    return values


def pruning_warnings(
    prune: float, weights: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return a warning if pruning dropped nearly all weights."""
    n_kept, n_pruned = sum(w.n_weights for w in weights), sum(r["n_pruned"] for r in reports)
    if n_pruned <= 1000 * max(n_kept, 1):
        return []
    return [
        f"prune={prune:g} dropped {n_pruned:,} weights and left {n_kept:,}; features that are not scaled "
        "(normalize=False) or a small C make small weights: use a smaller prune"
    ]

"""Training of the node classifiers of one tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels import LabelRows
from labeltree.progress import Phases
from labeltree.solvers import IncrementalSettings
from labeltree.tree_weights import TreeWeights
from labeltree.trees import LabelTree


@dataclass(frozen=True)
class SolverSettings:
    """`LabelTreeClassifier`'s parameters of these names; `bias` is the value of the bias feature, 0 for none."""

    solver: str
    loss: str
    penalty: str
    siblings: str
    C: float
    tol: float
    max_iter: int
    incremental: IncrementalSettings | None
    bias: float
    prune: float


def train_tree(
    tree: LabelTree,
    features: _native.FeatureMatrix,
    labels: LabelRows,
    sample_weight: NDArray[np.float32] | None,
    settings: SolverSettings,
    seed: int,
    n_threads: int,
    phases: Phases,
    name: str = "",
) -> tuple[TreeWeights, dict[str, Any]]:
    """Train all nodes; returns the weights and the kernel's report."""
    options = _native.SolverOptions()
    options.solver = getattr(_native.Solver, settings.solver)
    options.loss = getattr(_native.Loss, settings.loss)
    options.penalty = getattr(_native.Penalty, settings.penalty)
    options.joint_siblings = settings.siblings == "joint"
    options.C = settings.C
    options.tol = settings.tol
    options.max_iter = settings.max_iter
    if settings.incremental is not None:
        options.learning_rate = settings.incremental.learning_rate
        options.epochs = settings.incremental.epochs
        options.regularization = settings.incremental.regularization
    options.bias = settings.bias
    options.prune = settings.prune
    options.seed = seed
    options.n_threads = n_threads
    arrays = phases.run(
        f"{name}training {tree.n_nodes:,} nodes",
        lambda progress: _native.train_blocks(
            tree.child_begin,
            tree.label,
            tree.n_labels,
            features,
            labels.indptr,
            labels.indices,
            sample_weight,
            options,
            progress,
        ),
    )
    report = arrays.pop("report")
    return TreeWeights.from_training(tree, arrays), report

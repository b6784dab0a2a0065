"""`OnlineSettings`: the parameters that an online model keeps from its first example on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree import _native
from labeltree.online.memory_budget import hashed_length, shared_length
from labeltree.online.policies import make_policy
from labeltree.validation import LARGEST_INTEGER


@dataclass(frozen=True)
class OnlineSettings:
    """The parameters that cannot change after the first example, with defaults filled in.

    Attributes
    ----------
    policy : str or callable
        Where the leaf of a new label goes.
    arity : int
        Maximum number of children of a node.
    alpha : float
        Weight of balance against fit in the policy "best_fit".
    seed : int
        Seed of the policy "random" and of the order of examples in `fit`.
    n_trees : int
        Number of trees.
    weights : {"map", "dense", "hashed", "shared"}
        Storage of the weights.
    memory_mb : float, optional
        Memory budget of "hashed" and "shared" weights, for all trees together.
    expected_labels : int, optional
        Maximum number of labels of "hashed" weights.
    loss, link, solver : str
        The loss of the node classifiers, the function from scores to probabilities, and the training algorithm.
    learning_rate, regularization : float
        Step size, and weight of the penalty.
    initial_accumulator : float
        Initial value of AdaGrad's sums of squared gradients.
    bias : bool
        Whether classifiers have a bias.
    normalize : bool
        Whether rows are scaled to unit length.
    """

    policy: Any
    arity: int
    alpha: float
    seed: int
    n_trees: int
    weights: str
    memory_mb: float | None
    expected_labels: int | None
    loss: str
    link: str
    solver: str
    learning_rate: float
    regularization: float
    initial_accumulator: float
    bias: bool
    normalize: bool

    def options(self) -> _native.OnlineOptions:
        """Return the settings for the kernel."""
        return _native.OnlineOptions(
            loss=getattr(_native.Loss, self.loss),
            solver=getattr(_native.Solver, self.solver),
            link=getattr(_native.Link, self.link),
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            initial_accumulator=self.initial_accumulator,
            bias=self.bias,
            weights=getattr(_native.WeightKind, self.weights),
            length=self.length,
            most_lanes=self.most_lanes,
            most_labels=self.expected_labels if self.weights == "hashed" and self.expected_labels else 0,
        )

    def tree_policies(self) -> list[_native.TreePolicy]:
        """Return the policy of each tree for the kernel."""
        return [make_policy(self.policy, self.arity, self.alpha, seed) for seed in self.tree_seeds()]

    def tree_seeds(self) -> list[int]:
        """Return the seed of each tree. The first tree has the seed of a model of one tree."""
        if self.n_trees == 1:
            return [self.seed]
        others = np.random.RandomState(self.seed).randint(LARGEST_INTEGER, size=self.n_trees - 1)
        return [self.seed, *others.tolist()]

    @property
    def length(self) -> int:
        """The length of hashed weight vectors, or of the table that all nodes of a tree share; 0 for other weights."""
        if not self.hashes_names:
            return 0
        assert self.memory_mb is not None
        memory_mb = self.memory_mb / self.n_trees
        if self.weights == "shared":
            return shared_length(memory_mb, self.most_lanes, self.solver)
        assert self.expected_labels is not None
        return hashed_length(memory_mb, self.expected_labels, self.solver)

    @property
    def most_lanes(self) -> int:
        """The maximum width of a block; the kernel may round it up."""
        return self.arity + 3

    @property
    def hashes_names(self) -> bool:
        """Whether names of features are hashed, as the weights are."""
        return self.weights in ("hashed", "shared")

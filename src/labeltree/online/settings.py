"""`OnlineSettings`: the parameters that an online model keeps from its first example on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labeltree import _native
from labeltree.online.memory_budget import hashed_length, shared_length
from labeltree.online.policies import make_policy


@dataclass(frozen=True)
class OnlineSettings:
    """The parameters of a model from its first example on, with defaults filled in."""

    policy: Any
    arity: int
    alpha: float
    seed: int
    weights: str
    memory_mb: float | None
    expected_labels: int | None
    loss: str
    link: str
    solver: str
    learning_rate: float
    regularization: float
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
            bias=self.bias,
            weights=getattr(_native.WeightKind, self.weights),
            length=self.length,
            most_lanes=self.most_lanes,
            most_labels=self.expected_labels if self.weights == "hashed" and self.expected_labels else 0,
        )

    def tree_policy(self) -> _native.TreePolicy:
        return make_policy(self.policy, self.arity, self.alpha, self.seed)

    @property
    def length(self) -> int:
        """The length of hashed weights, or of the table that all nodes share; else 0."""
        if self.weights == "hashed":
            assert self.memory_mb is not None
            assert self.expected_labels is not None
            return hashed_length(self.memory_mb, self.expected_labels, self.solver)
        if self.weights == "shared":
            assert self.memory_mb is not None
            return shared_length(self.memory_mb, self.most_lanes, self.solver)
        return 0

    @property
    def most_lanes(self) -> int:
        """The lanes of the widest block, rounded up as the kernel may do."""
        return self.arity + 3

    @property
    def hashes_names(self) -> bool:
        return self.weights in ("hashed", "shared")

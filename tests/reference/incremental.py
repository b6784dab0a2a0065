"""Algorithm 5 of the paper, line by line: one example after another updates the classifiers of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from tests.reference.assignment import assign_to_nodes

from labeltree.trees import LabelTree

Vector = NDArray[np.float64]


@dataclass
class OnlineClassifier:
    """A_online: what an example does to the weights of one node, all of them, at once."""

    solver: str
    loss: str
    learning_rate: float
    regularization: float
    n_updates: int | None  # that it will get, if the rate falls to 0
    initial_accumulator: float
    w: Vector
    squares: Vector = field(init=False)
    done: int = 0

    def __post_init__(self) -> None:
        self.squares = np.zeros_like(self.w)

    def update(self, x: Vector, positive: bool, weight: float) -> None:
        z = 1.0 if positive else -1.0
        margin = z * (self.w @ x)
        slope = -2 * max(0.0, 1 - margin) if self.loss == "squared_hinge" else -1 / (1 + np.exp(margin))
        g = weight * slope * z * x
        rate = self.learning_rate * (1 if self.n_updates is None else 1 - self.done / self.n_updates)
        if self.solver == "adagrad":
            self.squares += g**2
            self.w -= rate * g / np.sqrt(self.initial_accumulator + self.squares)
        elif self.solver == "sgd":
            self.w = (1 - rate * self.regularization) * self.w - rate * g
        else:
            half = self.w - rate * g
            self.w = np.sign(half) * np.maximum(np.abs(half) - rate * self.regularization, 0)
        self.done += 1


def iplt_train(
    tree: LabelTree,
    X: Vector,
    rows: Sequence[Sequence[int]],
    *,
    solver: str,
    loss: str,
    learning_rate: float,
    regularization: float,
    epochs: int,
    seed: int,
    sample_weight: Vector | None = None,
    falling_rate: bool = True,
    initial_accumulator: float = 1.0,
) -> Vector:
    """The weights [node][feature] of all nodes. X is dense, and has a column of ones if there is a bias."""
    assigned = [assign_to_nodes(tree, labels) for labels in rows]
    n_examples = [sum(v in P or v in N for P, N in assigned) for v in range(tree.n_nodes)]
    H = [
        OnlineClassifier(
            solver,
            loss,
            learning_rate,
            regularization,
            epochs * n if falling_rate else None,
            initial_accumulator,
            np.zeros(X.shape[1]),
        )
        for n in n_examples
    ]
    for epoch in range(epochs):
        for i in example_order(seed, epoch, len(rows)):
            weight = 1.0 if sample_weight is None else float(sample_weight[i])
            P, N = assigned[i]
            for v in P:
                H[v].update(X[i], True, weight)
            for v in N:
                H[v].update(X[i], False, weight)
    return np.array([classifier.w for classifier in H])


def example_order(seed: int, epoch: int, n_rows: int) -> list[int]:
    """The order in which the examples come: by a random number each, of 32 bits."""
    epoch_seed = _mix_seed(seed, epoch)
    return sorted(range(n_rows), key=lambda row: (_mix_seed(epoch_seed, row) >> 32, row))


def _mix_seed(seed: int, part: int) -> int:
    """SplitMix64, as in native/core/random.h."""
    mask = 2**64 - 1
    z = seed ^ ((part * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019) & mask)
    z = (z + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)

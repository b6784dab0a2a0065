"""Distributions that are known to the last digit, and the best that any decision can come to on them.

Rows are of a few kinds, which are all that is seen of them; a kind has every label vector with some probability.
Everything is found by going through all label vectors, and through all decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labeltree import LabelTree

Array = NDArray[np.float64]

#: A metric, given the shares of true positives, false positives, false negatives and true negatives.
Value = Callable[[Array, Array, Array, Array], Array]


def label_vectors(n_labels: int) -> NDArray[np.int64]:
    """All label vectors."""
    return (np.arange(2**n_labels)[:, None] >> np.arange(n_labels)) & 1


@dataclass(frozen=True)
class KnownDistribution:
    """The probability of each kind of row together with each label vector: `joint[kind, vector]`."""

    joint: Array

    @property
    def n_kinds(self) -> int:
        return len(self.joint)

    @property
    def n_labels(self) -> int:
        return int(np.log2(self.joint.shape[1]))

    @property
    def mass(self) -> Array:
        """P(x) of every kind."""
        return self.joint.sum(axis=1)

    @property
    def eta(self) -> Array:
        """P(y_j = 1 | x), [kind][label]."""
        return self.joint @ label_vectors(self.n_labels) / self.mass[:, None]

    def node_marginals(self, tree: LabelTree) -> Array:
        """P(z_v = 1 | x), [kind][node]: z_v says whether the node has a label of the row below it."""
        vectors = label_vectors(self.n_labels)
        z = np.array([vectors[:, tree.labels_under(v)].any(axis=1) for v in range(tree.n_nodes)])
        return self.joint @ z.T / self.mass[:, None]

    def parent_marginals(self, tree: LabelTree) -> Array:
        """P(z_parent = 1 | x), [kind][node]; the root's parent is always there."""
        marginals = self.node_marginals(tree)
        return np.hstack([np.ones((self.n_kinds, 1)), marginals[:, tree.parent[1:]]])

    def node_conditionals(self, tree: LabelTree) -> Array:
        """P(z_v = 1 | z_parent = 1, x), [kind][node]; 1 where the parent never is."""
        marginals, of_parent = self.node_marginals(tree), self.parent_marginals(tree)
        ratios = np.divide(marginals, of_parent, out=np.ones_like(marginals), where=of_parent > 0)
        return np.minimum(ratios, 1)  # which rounding exceeds

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Rows at random: their kinds as features, and their labels."""
        return self._rows(rng.choice(self.joint.size, n_rows, p=self.joint.ravel()))

    def all_rows(self, n_rows: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """As many rows of each kind and label vector as it is probable: a sample that is the distribution."""
        counts = np.rint(self.joint.ravel() * n_rows).astype(int)
        assert counts.sum() == n_rows
        return self._rows(np.repeat(np.arange(self.joint.size), counts))

    def _rows(self, cells: NDArray[np.int64]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        kind, vector = np.divmod(cells, self.joint.shape[1])
        X = sp.csr_matrix(np.eye(self.n_kinds, dtype=np.float32)[kind])
        return X, sp.csr_matrix(label_vectors(self.n_labels)[vector])


def value_of(value: Value, mass: Array, probability: Array, decided: Array) -> Array:
    """The metric of decisions [decision][cell] about cells with this mass and probability of being positive."""
    positive, negative = mass * probability, mass * (1 - probability)
    tp, fp = decided @ positive, decided @ negative
    return value(tp, fp, positive.sum() - tp, negative.sum() - fp)


def best_value(value: Value, mass: Array, probability: Array) -> float:
    """The largest that the metric can be, whatever is decided about each cell."""
    return float(value_of(value, mass, probability, label_vectors(len(mass))).max())


def best_value_of_thresholds(value: Value, mass: Array, probability: Array) -> float:
    """The same by thresholds on the probability: for more cells than one can try all decisions about."""
    decided = probability >= np.append(np.unique(probability), 2)[:, None]
    return float(value_of(value, mass, probability, decided).max())


def cells(known: KnownDistribution, average: str) -> list[tuple[Array, Array]]:
    """Mass and probability of what a metric counts: of all labels together, or of each."""
    mass, eta = known.mass, known.eta
    if average == "macro":
        return [(mass, eta[:, j]) for j in range(known.n_labels)]
    return [(np.repeat(mass / known.n_labels, known.n_labels), eta.ravel())]


def best_precision(eta: Array, k: int) -> float:
    """The largest expected precision at k of a row with these probabilities, over all sets of k labels."""
    return max(float(eta[list(labels)].mean()) for labels in combinations(range(len(eta)), k))


def hamming(false_positive_cost: float = 1, false_negative_cost: float = 1) -> Value:
    return lambda tp, fp, fn, tn: 1 - false_positive_cost * fp - false_negative_cost * fn


def f_beta(beta: float) -> Value:
    return lambda tp, fp, fn, tn: (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def jaccard() -> Value:
    return lambda tp, fp, fn, tn: tp / (tp + fp + fn)


def am() -> Value:
    return lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2

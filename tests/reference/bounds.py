"""The paper's bounds on what wrong estimates of the nodes can cost, written down as they stand there.

`estimate` has the nodes' estimates of P(z_v = 1 | z_parent = 1, x), [kind][node], `scores` what they come from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tests.reference.known_distribution import Array, KnownDistribution

from labeltree import LabelTree

#: The smallest expected loss where the share of positives is eta.
SMALLEST_RISK: dict[str, Callable[[Array], Array]] = {
    "squared_hinge": lambda eta: 4 * eta * (1 - eta),
    "squared": lambda eta: 4 * eta * (1 - eta),
    "exponential": lambda eta: 2 * np.sqrt(eta * (1 - eta)),
    "logistic": lambda eta: -sum(p * np.log(np.where(p > 0, p, 1)) for p in (eta, 1 - eta)),
}

LOSS: dict[str, Callable[[Array], Array]] = {
    "squared_hinge": lambda margin: np.maximum(0, 1 - margin) ** 2,
    "squared": lambda margin: (1 - margin) ** 2,
    "exponential": lambda margin: np.exp(-margin),
    "logistic": lambda margin: np.log1p(np.exp(-margin)),
}

#: The score that stands for a probability; those of 0 and 1 are infinite for two of them.
SCORE: dict[str, Callable[[Array], Array]] = {
    "squared_hinge": lambda eta: 2 * eta - 1,
    "squared": lambda eta: 2 * eta - 1,
    "exponential": lambda eta: np.log(eta / (1 - eta)) / 2,
    "logistic": lambda eta: np.log(eta / (1 - eta)),
}

LAMBDA = {"squared_hinge": 8.0, "squared": 8.0, "exponential": 4.0, "logistic": 4.0}


def path_of(tree: LabelTree, node: int) -> list[int]:
    """The nodes from this one to the root."""
    path = [node]
    while path[-1] != 0:
        path.append(int(tree.parent[path[-1]]))
    return path


def node_error_bound(known: KnownDistribution, tree: LabelTree, estimate: Array) -> Array:
    """Lemma 1, [kind][node]: the errors on the path to a node, each times the probability of the parent."""
    errors = known.parent_marginals(tree) * np.abs(known.node_conditionals(tree) - estimate)
    return np.array([errors[:, path_of(tree, v)].sum(axis=1) for v in range(tree.n_nodes)]).T


def parent_mass(known: KnownDistribution, tree: LabelTree) -> Array:
    """P(z_parent = 1) of every node."""
    return known.mass @ known.parent_marginals(tree)


def kinds_where_asked(known: KnownDistribution, tree: LabelTree) -> Array:
    """P(x | z_parent = 1), [kind][node]: the rows that a node is trained on."""
    of_both = known.mass[:, None] * known.parent_marginals(tree)
    total = of_both.sum(axis=0)
    return np.divide(of_both, total, out=np.zeros_like(of_both), where=total > 0)


def weight_below(tree: LabelTree, weight: Array) -> Array:
    """The weights of the labels below each node together."""
    return np.array([weight[tree.labels_under(v)].sum() for v in range(tree.n_nodes)])


def error_bound(known: KnownDistribution, tree: LabelTree, estimate: Array, weight: Array) -> float:
    """Theorem 2: of the weighted mean of the expected errors of labels, by those of nodes."""
    errors = np.abs(known.node_conditionals(tree) - estimate)
    expected = (kinds_where_asked(known, tree) * errors).sum(axis=0)
    return float(parent_mass(known, tree) * expected @ weight_below(tree, weight)) / tree.n_labels


def node_regrets(known: KnownDistribution, tree: LabelTree, scores: Array, loss: str) -> Array:
    """The expected loss of every node on its rows, less the smallest that it could have."""
    eta = known.node_conditionals(tree)
    risk = eta * LOSS[loss](scores) + (1 - eta) * LOSS[loss](-scores)
    regret = np.maximum(0, risk - SMALLEST_RISK[loss](eta))
    return (kinds_where_asked(known, tree) * regret).sum(axis=0)


def regret_bound(known: KnownDistribution, tree: LabelTree, scores: Array, loss: str, weight: Array) -> float:
    """Theorem 3: the same by the regrets of the nodes in terms of a strongly proper composite loss."""
    roots = np.sqrt(parent_mass(known, tree) * node_regrets(known, tree, scores, loss))
    return float(np.sqrt(2 / LAMBDA[loss]) * roots @ weight_below(tree, weight)) / tree.n_labels

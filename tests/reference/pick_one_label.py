"""What the pick-one-label heuristic makes of a distribution of label vectors, by going through all of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from tests.reference.known_distribution import Array, KnownDistribution, label_vectors


def independent(eta: Array) -> KnownDistribution:
    """Labels with these probabilities, [kind][label], that know nothing of each other; all kinds as frequent."""
    vectors = label_vectors(eta.shape[1])
    joint = np.where(vectors, eta[:, None, :], 1 - eta[:, None, :]).prod(axis=2)
    return KnownDistribution(joint / len(eta))


def picked(known: KnownDistribution) -> Array:
    """The probability that a label is the one picked from those of its row, [kind][label]."""
    vectors = label_vectors(known.n_labels)
    share = vectors / np.maximum(1, vectors.sum(axis=1, keepdims=True))
    return known.joint @ share / known.mass[:, None]


def given_labels(probabilities: Array) -> Array:
    """The same among rows that have labels at all, which are those that can be picked from."""
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def best_recall(known: KnownDistribution, k: int) -> Array:
    """The largest expected recall at k of every kind, over all sets of k labels."""
    sets = [list(labels) for labels in combinations(range(known.n_labels), k)]
    return np.max([recall(known, np.tile(labels, (known.n_kinds, 1))) for labels in sets], axis=0)


def recall(known: KnownDistribution, chosen: np.ndarray) -> Array:
    """The expected share of a row's labels that is among those chosen for its kind; 0 for rows without any."""
    vectors = label_vectors(known.n_labels)
    n_hits = np.array([vectors[:, labels].sum(axis=1) for labels in chosen])
    found = n_hits / np.maximum(1, vectors.sum(axis=1))
    return (known.joint * found).sum(axis=1) / known.mass

"""Ranking by weight times probability as one would write it down: brute force, and a beam over subtrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree.trees import LabelTree


def worths(weight: NDArray[np.float64], p: NDArray[np.float32]) -> NDArray[np.float64]:
    """The weight of each label times its probability, in double precision as the kernel has it."""
    return weight * p.astype(np.float64)


def best_by_worth(
    weight: NDArray[np.float64], p: NDArray[np.float32], k: int, threshold: float = 0.0
) -> list[int]:
    """The k labels that are worth most, of those with at least the probability; equal ones by number."""
    kept = np.flatnonzero(p >= np.float32(threshold))
    worth = worths(weight, p)
    best: list[int] = kept[np.lexsort((kept, -worth[kept]))][:k].tolist()
    return best


def assert_worthiest(
    found: NDArray[np.int64],
    probabilities: NDArray[np.float32],
    expected: list[int],
    worth: NDArray[np.float64],
    p: NDArray[np.float32],
) -> None:
    """Check for the expected labels in their order, with their probabilities; of labels worth nothing any will do."""
    n_found = len(expected)
    assert (found[n_found:] == -1).all()
    assert (probabilities[n_found:] == 0).all()
    labels = found[:n_found]
    n_worth = int((worth[expected] > 0).sum())
    assert labels[:n_worth].tolist() == expected[:n_worth]
    assert (worth[labels[n_worth:]] == 0).all()
    assert len(set(labels.tolist())) == n_found
    np.testing.assert_array_equal(probabilities[:n_found], p[labels])


def largest_below(tree: LabelTree, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per node, the largest weight of the labels below it."""
    return np.array([max(weight[list(tree.labels_under(v))]) for v in range(tree.n_nodes)])


def beam_by_worth(
    tree: LabelTree, eta: NDArray[np.float32], weight: NDArray[np.float64], k: int, beam: int
) -> tuple[list[int], int]:
    """Level by level, only the inner nodes with the best that could be below them go on."""
    largest = largest_below(tree, weight)
    level = [(0, eta[0])]
    found: list[tuple[float, int]] = []
    n_evaluations = 1
    while level:
        below = [(c, p * eta[c]) for v, p in level for c in tree.children(v)]
        n_evaluations += len(below)
        labels = [(int(tree.label[v]), p) for v, p in below if tree.is_leaf[v]]
        found += [(-float(weight[label]) * float(p), label) for label, p in labels]
        inner = [(v, p) for v, p in below if not tree.is_leaf[v]]
        level = sorted(inner, key=lambda node: (-largest[node[0]] * float(node[1]), node[0]))[:beam]
    return [label for _, label in sorted(found)[:k]], n_evaluations

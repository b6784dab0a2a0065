"""Hierarchical spherical k-means over label vectors, in float64 and without any haste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.trees import LabelTree

Floats = NDArray[np.float64]


class Random:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        return (self.next() >> 32) * bound >> 32


def mixed_seed(seed: int, part: int) -> int:
    return Random(seed ^ ((part * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019) % 2**64)).next()


def unit(v: Floats) -> Floats:
    norm = np.linalg.norm(v)
    return v / norm if norm > 0 else v


def label_vectors(X: Any, y: Any, prune: float, sample_weight: Floats | None = None) -> Floats:
    """For each label the sum of its rows, scaled to unit length, without entries below `prune`, scaled again."""
    return _sums(np.array([unit(row) for row in X.toarray().astype(np.float64)]), y, prune, sample_weight)


def cooccurrence_vectors(y: Any, prune: float, sample_weight: Floats | None = None) -> Floats:
    """For each label how often it occurs with every label, itself included, likewise."""
    return _sums(y.toarray().astype(np.float64), y, prune, sample_weight)


def joined_vectors(first: Floats, second: Floats) -> Floats:
    return np.array([unit(v) for v in np.hstack([first, second])])


def _sums(rows: Floats, y: Any, prune: float, sample_weight: Floats | None) -> Floats:
    if sample_weight is not None:
        rows = rows * sample_weight[:, None]
    vectors = np.array([unit(v) for v in y.toarray().T @ rows])
    for v in vectors:
        v[np.abs(v) < min(prune, np.abs(v).max())] = 0
    return np.array([unit(v) for v in vectors])


@dataclass(frozen=True)
class Clustering:
    """The parameters of the kernel's function of the same purpose."""

    arity: int
    max_leaves: int
    balanced: bool = True
    even_levels: bool = True
    max_depth: int | None = None
    frequent_share: float = 0.0
    first_sample: int = 128
    sample: int = 2048
    max_iter: int = 8
    eps: float = 1e-4
    seed: int = 0

    def assign(self, similarity: Floats) -> list[int]:
        return balanced_assignment(similarity) if self.balanced else nearest_assignment(similarity)

    def kmeans(self, vectors: Floats, k: int, seed: int) -> list[int]:
        """The cluster of each vector; centroids start from vectors drawn at random and see ever more of them."""
        random = Random(seed)
        order = list(range(len(vectors)))
        size = min(len(vectors), self.sample * k)
        for i in range(size):
            other = i + random.below(len(order) - i)
            order[i], order[other] = order[other], order[i]
        drawn = vectors[order[:size]]
        centroids = drawn[:k]
        used = 0
        while used < size:
            used = min(size, 2 * used if used else self.first_sample * k)
            before = -1.0
            for _ in range(self.max_iter):
                similarity = drawn[:used] @ centroids.T
                cluster = self.assign(similarity)
                now = similarity[np.arange(used), cluster].mean()
                if now - before < self.eps:
                    break
                before = now
                centroids = np.array(
                    [unit(drawn[:used][np.array(cluster) == c].sum(axis=0)) for c in range(k)]
                )
        if size < len(vectors):
            return self.assign(vectors @ centroids.T)
        at = dict(zip(order, cluster, strict=True))
        return [at[i] for i in range(len(vectors))]

    def even_arity(self, n_labels: int, depth: int) -> int:
        """The smallest arity that needs no more levels than the largest allowed, and `max_depth`, do."""
        wanted = -(-n_labels // self.max_leaves)
        left = 64 if self.max_depth is None else self.max_depth - 1 - depth
        levels = next((n for n in range(1, left) if self.arity**n >= wanted), left)
        return next((k for k in range(1, self.arity) if k**levels >= wanted), self.arity)

    def split(self, labels: list[int], depth: int, vectors: Floats, y: Any, seed: int) -> list[list[int]]:
        """The parts of a node: frequent labels alone, other seen ones clustered, unseen ones where there is room."""
        seen = [j for j in labels if vectors[j].any()]
        unseen = [j for j in labels if not vectors[j].any()]
        n_examples = int((y[:, seen].sum(axis=1) > 0).sum())
        frequent = [
            j for j in seen if self.frequent_share and y[:, j].sum() >= self.frequent_share * n_examples
        ]
        seen = [j for j in seen if j not in frequent]
        if not seen and not unseen:
            return [[j] for j in frequent]
        is_even = self.balanced and self.even_levels
        k = self.even_arity(len(seen) + len(unseen), depth) if is_even else self.arity
        if len(seen) <= k:
            cluster = list(range(len(seen)))
        else:
            cluster = [0] * len(seen) if k == 1 else self.kmeans(vectors[seen], k, seed)
        parts = [[j for j, own in zip(seen, cluster, strict=True) if own == c] for c in range(k)]
        for label in unseen:
            min(parts, key=len).append(label)
        return [[j] for j in frequent] + [part for part in parts if part]

    def tree(self, vectors: Floats, y: Any) -> LabelTree:
        """Level by level; the seed of a node comes from its parent and its place among the children."""
        y = y.toarray()
        order = sorted(range(len(vectors)), key=lambda j: (not vectors[j].any(), j))
        parent, label = [-1], [-1]
        level = [(0, order, mixed_seed(self.seed, 0))]
        depth = 0
        while level:
            below = []
            for node, labels, seed in level:
                last = self.max_depth is not None and depth + 1 >= self.max_depth
                parts = (
                    []
                    if last or len(labels) <= self.max_leaves
                    else self.split(labels, depth, vectors, y, seed)
                )
                for place, part in enumerate(parts if len(parts) > 1 else [[j] for j in labels]):
                    if len(part) > 1:
                        below.append((len(label), part, mixed_seed(seed, place)))
                    parent.append(node)
                    label.append(part[0] if len(part) == 1 else -1)
            level = below
            depth += 1
        return LabelTree.from_parents(parent, label)


def balanced_assignment(similarity: Floats) -> list[int]:
    """Rows choose in the order of what they would lose by their second choice; a full cluster is out."""
    n, k = similarity.shape
    room = [n // k + (c < n % k) for c in range(k)]
    best_two = np.sort(similarity, axis=1)[:, -2:]
    cluster = [-1] * n
    for i in np.argsort(-(best_two[:, 1] - best_two[:, 0]), kind="stable"):
        cluster[i] = max((c for c in range(k) if room[c]), key=lambda c: (similarity[i, c], -c))
        room[cluster[i]] -= 1
    return cluster


def nearest_assignment(similarity: Floats) -> list[int]:
    """Rows choose the nearest centroid; those that have nothing in common with any go where there is most room."""
    k = similarity.shape[1]
    cluster = [int(row.argmax()) if row.max() > 1e-6 else -1 for row in similarity]
    size = [cluster.count(c) for c in range(k)]
    for i in range(len(cluster)):
        if cluster[i] < 0:
            cluster[i] = size.index(min(size))
            size[cluster[i]] += 1
    return cluster

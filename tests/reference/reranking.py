"""Reranking as the documentation defines it: brute force over all labels of a row, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def parts_sum(products: NDArray[np.float32]) -> np.float32:
    """The sum of products in float32 as the kernel adds them: in eight parts, which are then added in pairs."""
    part = np.zeros(8, dtype=np.float32)
    for i, product in enumerate(products):
        part[i % 8] += product
    pairs = part[0::2] + part[1::2]
    return np.float32((pairs[0] + pairs[1]) + (pairs[2] + pairs[3]))


def label_score(
    feature: NDArray[np.int32], weight: NDArray[np.float32], bias: np.float32, x: NDArray[np.float32]
) -> np.float32:
    """The score of a label for a row: its bias, and its weights times the values of its features."""
    return np.float32(bias + parts_sum(weight * x[feature]))


@dataclass(frozen=True)
class Reranked:
    """The labels of one row, and how they are ranked.

    `of_trees` has the probabilities of all allowed labels in the trees, which chose the `proposals`.
    """

    proposals: list[int]
    of_trees: dict[int, float]
    score: dict[int, float]
    of_score: dict[int, float]

    def probability(self, label: int) -> float:
        """The probability of the label's classifier if the label is proposed; else the trees' one, but not more."""
        if label in self.proposals:
            return self.of_score[label]
        return min([self.of_trees[label], *(self.of_score[proposal] for proposal in self.proposals)])

    def ranking(self, weight: NDArray[np.float64] | None = None) -> list[int]:
        """All labels, best first: by weight times probability, by score, by probability in the trees, by label."""

        def key(label: int) -> tuple[float, float, float, int]:
            worth = self.probability(label) * (1.0 if weight is None else float(weight[label]))
            score = -self.score[label] if label in self.proposals else np.inf
            return -worth, score, -self.of_trees[label], label

        return sorted(self.of_trees, key=key)

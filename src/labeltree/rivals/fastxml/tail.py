"""The treatment of rare labels in PfastreXML: inverse propensities, and nearness to a label's training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labeltree.metrics.propensity import FEWEST_ROWS, inverse_propensity_of_counts
from labeltree.model.explanation import Explanation
from labeltree.rivals.fastxml.example_trees import ExampleTrees
from labeltree.training.examples import Examples


class Reranking(NamedTuple):
    """The parameters of PfastreXML's ranking: the decay of nearness, and the weight of the trees against it."""

    gamma: float
    alpha: float


class Propensities(NamedTuple):
    """The parameters of the propensity model."""

    A: float
    B: float

    def inverse(self, examples: Examples) -> NDArray[np.float64]:
        """Return the inverse propensity of each label from rows with a positive weight; 1 if there are too few."""
        labels, weight = examples.labels, examples.sample_weight
        counts_row = np.ones(labels.n_rows, dtype=bool) if weight is None else weight > 0
        if counts_row.sum() < FEWEST_ROWS:
            return np.ones(labels.n_labels)
        of_entry = np.repeat(counts_row, np.diff(labels.indptr))
        counts = np.bincount(labels.indices[of_entry], minlength=labels.n_labels)
        return inverse_propensity_of_counts(counts, int(counts_row.sum()), self.A, self.B)


def nearness(trees: ExampleTrees, label: int, values: Mapping[int, float], gamma: float) -> float:
    """Return the nearness of a row, scaled to unit length, to the mean of a label's rows: at most 1/2."""
    begin, end = trees.arrays["mean_begin"][label : label + 2].tolist()
    features, means = (trees.arrays[name][begin:end].tolist() for name in ("mean_feature", "mean_value"))
    mean = zip(features, means, strict=True)
    product = sum(value * values.get(feature, 0.0) for feature, value in mean)
    length = float(np.linalg.norm(list(values.values()))) if values else 0.0
    square = float(trees.arrays["mean_square"][label])
    distance = max(square + 1 - 2 * product / length, 0.0) if length > 0 else square
    return float(expit(-gamma * distance))


@dataclass(frozen=True)
class RerankedExplanation(Explanation):
    """An `Explanation` with the parts of a reranked score.

    `trees` is the average over the trees, `near` the nearness of the row to the mean of the label's training rows.
    `probability` is ``(trees ** alpha * near ** (1 - alpha)) ** (1 / (1 + (1 - alpha) * gamma))``.
    """

    trees: float
    near: float
    alpha: float
    gamma: float

    def __str__(self) -> str:
        score = (
            f"{self.label}: score {self.probability:.4f}, "
            f"from {self.trees:.4f} of the trees and nearness {self.near:.2e}"
        )
        return "\n".join([score, *super().__str__().splitlines()[1:]])


def reranked(explanation: Explanation, near: float, reranking: Reranking) -> RerankedExplanation:
    """Return the explanation of a reranked score from the explanation of the trees."""
    gamma, alpha = reranking
    trees = explanation.probability
    published = trees**alpha * near ** (1 - alpha) if trees > 0 else 0.0
    score = published ** (1 / (1 + (1 - alpha) * gamma))
    return RerankedExplanation(explanation.label, score, explanation.paths, trees, near, alpha, gamma)

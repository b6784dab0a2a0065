"""FastXML and PfastreXML as published, one node after another, with scikit-learn's LIBLINEAR as separator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from labeltree.metrics import inverse_propensity


def discounts(n: int) -> np.ndarray:
    """What the ranks from the first on count in DCG."""
    return 1 / np.log2(np.arange(n) + 2)


def ideal_dcg(y: np.ndarray) -> np.ndarray:
    """The DCG of each row if its labels are ranked first; 1 if there are none."""
    sums = np.concatenate([[1.0], np.cumsum(discounts(y.shape[1]))])
    ideal: np.ndarray = sums[(y > 0).sum(axis=1)]
    return ideal


def rank_discount(sums: np.ndarray) -> np.ndarray:
    """The discount of each label when labels are ranked by these sums, equal ones in label order."""
    order = np.lexsort((np.arange(len(sums)), -sums))
    discount = np.empty(len(sums))
    discount[order] = discounts(len(sums))
    return discount


def split_by_ranking(y: np.ndarray, row_gain: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Alternate rankings and sides until the gain is stable; `y` has what each label of a row is worth, or 0."""
    y = y[:, (y > 0).any(axis=0)]
    positive = positive.astype(bool)
    last = -1.0
    while True:
        sums = {side: (row_gain[:, None] * y)[positive == side].sum(axis=0) for side in (False, True)}
        ranked = {side: rank_discount(sums[side]) for side in (False, True)}
        gain = sum(float(sums[side] @ ranked[side]) for side in (False, True)) / len(y)
        advantage = y @ (ranked[True] - ranked[False])
        positive = np.where(advantage == 0, positive, advantage > 0)
        if gain - last < 1e-6:
            return positive
        last = gain


@dataclass
class Leaf:
    """How frequent, or how much worth, labels are."""

    probability: np.ndarray


@dataclass
class Node:
    """A separator and its two sides."""

    separator: LogisticRegression
    negative: Any
    positive: Any


class FastXML:
    """The ensemble; with `label_gain`, one number per label, that of PfastXML."""

    def __init__(
        self,
        n_trees: int = 50,
        C: float = 1.0,
        max_leaf: int = 10,
        leaf_labels: int = 100,
        label_gain: np.ndarray | None = None,
        seed: int = 0,
    ) -> None:
        self.n_trees, self.C, self.max_leaf, self.leaf_labels = n_trees, C, max_leaf, leaf_labels
        self.label_gain = label_gain
        self.random = np.random.default_rng(seed)

    def fit(self, X: sp.csr_matrix, y: sp.csr_matrix) -> FastXML:
        X, truth = normalize(X), y.toarray().astype(float)
        # PfastXML's ideal is that of k labels for all rows alike, so it changes nothing.
        row_gain = 1 / ideal_dcg(truth) if self.label_gain is None else np.ones(len(truth))
        worth = truth if self.label_gain is None else truth * self.label_gain
        self.trees = [self._grow(X, worth, row_gain) for _ in range(self.n_trees)]
        return self

    def _grow(self, X: sp.csr_matrix, y: np.ndarray, row_gain: np.ndarray) -> Any:
        if len(y) <= self.max_leaf:
            return self._leaf(y)
        side = split_by_ranking(y, row_gain, self.random.random(len(y)) < 0.5)
        if side.all() or not side.any():
            return self._leaf(y)
        weight = np.where(side, len(y) / side.sum(), len(y) / (~side).sum())
        separator = LogisticRegression(
            l1_ratio=1, C=self.C, solver="liblinear", tol=0.01, random_state=self.random.integers(2**31)
        )
        separator.fit(X, side, sample_weight=weight)
        side = separator.decision_function(X) >= 0
        if side.all() or not side.any():
            return self._leaf(y)
        return Node(
            separator,
            self._grow(X[~side], y[~side], row_gain[~side]),
            self._grow(X[side], y[side], row_gain[side]),
        )

    def _leaf(self, y: np.ndarray) -> Leaf:
        probability = y.mean(axis=0)
        dropped = np.lexsort((np.arange(len(probability)), -probability))[self.leaf_labels :]
        probability[dropped] = 0
        return Leaf(probability)

    def scores(self, X: sp.csr_matrix) -> np.ndarray:
        """What the trees say on average: (n_rows, n_labels)."""
        X = normalize(X)
        mean: np.ndarray = np.mean([self._ask(tree, X) for tree in self.trees], axis=0)
        return mean

    def _ask(self, node: Any, X: sp.csr_matrix) -> np.ndarray:
        if isinstance(node, Leaf):
            return np.tile(node.probability, (X.shape[0], 1))
        side = node.separator.decision_function(X) >= 0 if X.shape[0] else np.empty(0, dtype=bool)
        answers = np.empty((X.shape[0], len(self._any_leaf(node).probability)))
        answers[~side] = self._ask(node.negative, X[~side])
        answers[side] = self._ask(node.positive, X[side])
        return answers

    def _any_leaf(self, node: Any) -> Leaf:
        return node if isinstance(node, Leaf) else self._any_leaf(node.negative)


class PfastreXML:
    """Trees by inverse propensities, then a ranking by them and by the distance from the labels' means."""

    def __init__(self, n_trees: int = 50, gamma: float = 30.0, alpha: float = 0.8, seed: int = 0) -> None:
        self.n_trees, self.gamma, self.alpha, self.seed = n_trees, gamma, alpha, seed

    def fit(self, X: sp.csr_matrix, y: sp.csr_matrix) -> PfastreXML:
        gain = inverse_propensity(y, A=0.55, B=1.5)
        self.trees = FastXML(self.n_trees, label_gain=gain, seed=self.seed).fit(X, y)
        counts = np.maximum(np.asarray(y.sum(axis=0)).ravel(), 1)
        self.means = (y.T @ normalize(X)).toarray() / counts[:, None]
        return self

    def scores(self, X: sp.csr_matrix) -> np.ndarray:
        """The published score, as an exponential."""
        return rerank(self.trees.scores(X), self.means, X, self.gamma, self.alpha)


def rerank(trees: np.ndarray, means: np.ndarray, X: sp.csr_matrix, gamma: float, alpha: float) -> np.ndarray:
    """``alpha log(trees) + (1 - alpha) log(near)``, as an exponential."""
    rows = normalize(X).toarray()
    distance = np.array([((row - means) ** 2).sum(axis=1) for row in rows])
    near = 1 / (1 + np.exp(gamma * distance))
    with np.errstate(divide="ignore"):
        score: np.ndarray = np.exp(alpha * np.log(trees) + (1 - alpha) * np.log(near))
    return score

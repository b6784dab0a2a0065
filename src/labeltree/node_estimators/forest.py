"""`EstimatorForest`: label trees with scikit-learn classifiers in their nodes, answered by guided search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.exchange import GuidedSearch, NodeBlocks, node_targets
from labeltree.exchange.scores import path_products
from labeltree.labels.reading import LabelRows
from labeltree.model.candidates import (
    as_top,
    best_on_average,
    by_thresholds,
    is_exact,
    pooled,
    ranked,
    row_of_each,
    weighted_mean,
)
from labeltree.model.forest import RowAnswer, Search, TopAnswer
from labeltree.model.label_forest import LabelForest
from labeltree.model.node_scores import NodeScores
from labeltree.node_estimators.estimators import EstimatorFeatures
from labeltree.trees import LabelTree


class NodeLearners(Protocol):
    """A tree, and whatever gives probabilities to its nodes."""

    @property
    def tree(self) -> LabelTree: ...

    def probabilities(self, X: Any, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Return the probability of every entry of `blocks`, whose rows are rows of X."""


class EstimatorForest(LabelForest):
    """Trees of node estimators.

    Parameters
    ----------
    weights : sequence of NodeLearners
        The trained nodes of each tree.
    tree_weight : sequence of float, optional
        Weight of each tree in the mean of their probabilities, 1 by default.
    """

    #: Number of rows that are searched together. More rows make fewer calls of estimators, but need more memory.
    rows_per_batch = 8192

    def __init__(self, weights: Sequence[NodeLearners], tree_weight: Sequence[float] | None = None) -> None:
        self.weights = list(weights)
        self.tree_weight = [1.0] * len(self.weights) if tree_weight is None else list(tree_weight)

    def answering(self, link: str, tree_weight: Sequence[float]) -> EstimatorForest:
        """Return the forest with these weights of its trees; this forest if nothing changes."""
        return self if tree_weight == self.tree_weight else type(self)(self.weights, tree_weight)

    def joined(self, other: EstimatorForest, tree_weight: Sequence[float]) -> EstimatorForest:
        """Return a forest with the trees of both."""
        return type(self)([*self.weights, *other.weights], tree_weight)

    def first_tree(self) -> EstimatorForest:
        """Return the first tree alone."""
        return type(self)(self.weights[:1])

    def top_k(
        self, features: EstimatorFeatures, search: Search, evaluations: NDArray[np.int64] | None = None
    ) -> TopAnswer:
        exact = len(self.weights) > 1 and is_exact(search, len(self.weights))
        # A label may be below the threshold in one tree and above it on average, see `native/search/forest.cpp`.
        each = len(self.weights) == 1 or exact or search.label_weight is not None
        options: dict[str, Any] = {
            "threshold": search.threshold if each else 0.0,
            "beam": search.beam or None,
            "allowed": search.allowed,
            "label_weight": search.label_weight,
            "normalize_siblings": search.normalize_siblings,
        }

        def best(asked: list[Answers]) -> RowAnswer:
            def propose(rows: NDArray[np.int64], k: int) -> list[TopAnswer]:
                searches = [GuidedSearch(a.tree, len(rows), k, **options) for a in asked]
                return [one.run(a.of_rows(rows)).top_labels() for one, a in zip(searches, asked, strict=True)]

            def mean_of(rows: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float32]:
                return self._mean(asked, rows, labels, search)

            if exact:
                n_rows = asked[0].n_rows
                return best_on_average(n_rows, self.n_labels, self.tree_weight, search, propose, mean_of)
            found = [GuidedSearch(a.tree, a.n_rows, search.k, **options).run(a.ask).matrix() for a in asked]
            return self._mean_of_found(found, asked, search)

        return as_top(self._in_batches(features, best, evaluations), search.k)

    def above(
        self, features: EstimatorFeatures, search: Search, evaluations: NDArray[np.int64] | None = None
    ) -> RowAnswer:
        return self._in_batches(features, lambda asked: self._all_above(asked, search), evaluations)

    def pairs(
        self, features: EstimatorFeatures, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        probabilities = np.empty(len(rows), dtype=np.float32)
        for begin in range(0, len(rows), self.rows_per_batch):
            some = slice(begin, begin + self.rows_per_batch)
            asked = [Answers(nodes, features.X) for nodes in self.weights]
            probabilities[some] = self._mean(asked, rows[some], labels[some], search)
        return probabilities

    def enumerate(self, features: EstimatorFeatures, search: Search) -> Iterator[tuple[int, float]]:
        asked = [Answers(nodes, features.X) for nodes in self.weights]
        return by_thresholds(lambda wanted: self._all_above(asked, wanted), self.n_labels, search)

    def explain(self, *_: Any) -> NoReturn:
        raise ValueError("explain needs linear node classifiers, but this model has a node_estimator")

    def calibrated(self, _: Any) -> NoReturn:
        raise ValueError(
            "calibrate needs linear node classifiers, but this model has a node_estimator: put scikit-learn's "
            "CalibratedClassifierCV around that instead"
        )

    def node_scores(
        self, features: EstimatorFeatures, labels: LabelRows, search: Search, seed: int
    ) -> list[NodeScores]:
        """Return the probabilities of nodes, also as their scores: estimators have no scores."""
        parts = []
        for nodes in self.weights:
            lists = np.split(labels.indices, labels.indptr[1:-1])
            targets = node_targets(nodes.tree, [part.tolist() for part in lists])
            said = nodes.probabilities(features.X, targets)
            probability = targets.check_probabilities(said, search.normalize_siblings)
            parts.append(
                NodeScores(
                    targets.node.astype(np.int32),
                    nodes.tree.depth_of_node[targets.node].astype(np.int64),
                    probability,
                    probability,
                    targets.target > 0,
                    np.ones(len(probability)),
                )
            )
        return parts

    def _in_batches(
        self,
        features: EstimatorFeatures,
        answer: Callable[[list[Answers]], RowAnswer],
        evaluations: NDArray[np.int64] | None,
    ) -> RowAnswer:
        """Return the answers for all rows, batch by batch; fill `evaluations` with the number of calls per row."""
        if features.n_rows == 0:
            return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        parts = []
        for begin in range(0, features.n_rows, self.rows_per_batch):
            rows = slice(begin, begin + self.rows_per_batch)
            asked = [Answers(nodes, features.X[rows]) for nodes in self.weights]
            parts.append(answer(asked))
            if evaluations is not None:
                evaluations[rows] = sum(a.n_asked for a in asked)
        counts, labels, probabilities = zip(*((np.diff(part[0]), *part[1:]) for part in parts), strict=True)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return indptr, np.concatenate(labels), np.concatenate(probabilities)

    def _all_above(self, asked: list[Answers], search: Search) -> RowAnswer:
        bound = search.threshold if search.label_threshold is None else search.label_threshold
        siblings, allowed = search.normalize_siblings, search.allowed
        found = [
            GuidedSearch(a.tree, a.n_rows, threshold=bound, allowed=allowed, normalize_siblings=siblings)
            .run(a.recall)
            .matrix()
            for a in asked
        ]
        return self._mean_of_found(found, asked, search.replace(missing_as_zero=False))

    def _mean_of_found(self, found: list[Any], asked: list[Answers], search: Search) -> RowAnswer:
        """Return the k best labels on average that reach their threshold, among the labels found by any tree."""
        n_rows, n_labels = found[0].shape
        rows = [row_of_each(matrix.indptr) for matrix in found]
        pairs = pooled(rows, [matrix.indices for matrix in found], n_labels)
        if len(found) > 1 and not search.missing_as_zero:
            mean = self._mean(asked, *np.divmod(pairs, n_labels), search)
        else:
            parts = []
            for row, matrix in zip(rows, found, strict=True):
                part = np.zeros(len(pairs), dtype=np.float32)
                part[np.searchsorted(pairs, row * n_labels + matrix.indices)] = matrix.data
                parts.append(part)
            mean = weighted_mean(parts, self.tree_weight)
        return ranked(n_rows, n_labels, pairs, mean, search)

    def _mean(
        self, asked: list[Answers], rows: NDArray[np.int64], labels: NDArray[Any], search: Search
    ) -> NDArray[np.float32]:
        """Return the mean over the trees for each (row, label); each tree multiplies along the label's path."""
        siblings = search.normalize_siblings
        parts = [path_products(a.tree, a.recall, rows, labels, siblings) for a in asked]
        return weighted_mean(parts, self.tree_weight)


class Answers:
    """A cache of the probabilities that the estimators of a tree gave to some rows."""

    def __init__(self, nodes: NodeLearners, X: Any) -> None:
        self._nodes = nodes
        self._X = X
        self.tree = nodes.tree
        self.n_rows = int(X.shape[0])
        self.n_asked: NDArray[np.int64] = np.zeros(self.n_rows, dtype=np.int64)
        self._keys = np.empty(0, dtype=np.int64)  # of the cached blocks
        self._begin = np.empty(0, dtype=np.int64)
        self._said = np.empty(0, dtype=np.float32)
        self._news: list[tuple[NodeBlocks, NDArray[np.float32]]] = []

    def ask(self, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Return the probabilities of blocks that are not cached; a search needs no block twice."""
        answers = self._nodes.probabilities(self._X, blocks)
        self.n_asked += np.bincount(blocks.row, minlength=self.n_rows)
        self._news.append((blocks, answers))
        return answers

    def of_rows(self, rows: NDArray[np.int64]) -> Callable[[NodeBlocks], NDArray[np.float32]]:
        """Return `recall` for a search of some rows, which numbers them from 0."""
        self._learn_news()  # once: a search needs no block twice

        def recall(blocks: NodeBlocks) -> NDArray[np.float32]:
            return self._look_up(NodeBlocks.of(self.tree, rows[blocks.block_row], blocks.parent))

        return recall

    def recall(self, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Return the probabilities of blocks, from the cache if possible."""
        self._learn_news()
        return self._look_up(blocks)

    def _look_up(self, blocks: NodeBlocks) -> NDArray[np.float32]:
        keys = self._block_keys(blocks)
        known = np.isin(keys, self._keys)
        at = np.searchsorted(self._keys, keys[known])
        sizes = np.diff(blocks.begin)
        answers = np.empty(len(blocks), dtype=np.float32)
        is_known = np.repeat(known, sizes)
        shift = np.repeat(self._begin[at] - blocks.begin[:-1][known], sizes[known])
        answers[is_known] = self._said[np.flatnonzero(is_known) + shift]
        unknown = NodeBlocks.of(self.tree, blocks.block_row[~known], blocks.parent[~known])
        answers[~is_known] = self.ask(unknown)
        return answers

    def _learn_news(self) -> None:
        n_said = np.cumsum([len(self._said), *(len(answers) for _, answers in self._news)])
        keys = np.concatenate([self._keys, *(self._block_keys(blocks) for blocks, _ in self._news)])
        begin = np.concatenate(
            [self._begin, *(b.begin[:-1] + n for n, (b, _) in zip(n_said, self._news, strict=False))]
        )
        self._said = np.concatenate([self._said, *(answers for _, answers in self._news)])
        order = np.argsort(keys)
        self._keys, self._begin = keys[order], begin[order]
        self._news = []

    def _block_keys(self, blocks: NodeBlocks) -> NDArray[np.int64]:
        return blocks.block_row * (self.tree.n_nodes + 1) + blocks.parent + 1

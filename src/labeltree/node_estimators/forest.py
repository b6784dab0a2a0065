"""Trees with estimators in their nodes, asked together; what the kernel's Forest is to linear ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.exchange import GuidedSearch, NodeBlocks
from labeltree.exchange.scores import path_products
from labeltree.node_estimators.estimators import EstimatorFeatures, NodeEstimators

#: Rows that are searched for together: more would make fewer calls of estimators, each with more rows.
ROWS_PER_BATCH = 8192

#: Labels, by row and best first: indptr, labels and probabilities.
_Ranking = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


class EstimatorForest:
    """Answers the calls of `_native.Forest` by guided search, with the same meaning."""

    def __init__(self, trees: Sequence[NodeEstimators], tree_weight: Sequence[float]) -> None:
        self._trees = trees
        self._tree_weight = tree_weight

    def top_k(
        self,
        features: EstimatorFeatures,
        search: _native.Search,
        labels: NDArray[np.int32],
        probabilities: NDArray[np.float32],
        evaluations: NDArray[np.int64] | None = None,
    ) -> None:
        labels.fill(-1)
        probabilities.fill(0)
        k = labels.shape[1]
        for rows, answers in self._batches(features):
            # A label may be below the threshold in one tree and above it on average.
            bound = search.threshold if len(self._trees) == 1 else 0.0
            found = [
                GuidedSearch(
                    a.tree,
                    a.n_rows,
                    k,
                    threshold=bound,
                    beam=search.beam or None,
                    allowed=search.allowed,
                    label_weight=search.label_weight,
                    normalize_siblings=search.normalize_siblings,
                )
                .run(a.ask)
                .matrix()
                for a in answers
            ]
            ranking = self._averages(
                found,
                answers,
                k,
                search.threshold,
                search.normalize_siblings,
                search.missing_as_zero,
                search.label_weight,
            )
            there = np.arange(k) < np.diff(ranking[0])[:, np.newaxis]
            labels[rows][there], probabilities[rows][there] = ranking[1:]
            if evaluations is not None:
                evaluations[rows] = sum(a.n_asked for a in answers)

    def above(
        self,
        features: EstimatorFeatures,
        search: _native.Search,
        evaluations: NDArray[np.int64] | None = None,
    ) -> _Ranking:
        counts, labels, probabilities = [], [], []
        for rows, answers in self._batches(features):
            bound = search.threshold if search.label_threshold is None else search.label_threshold
            ranking = self._all_above(answers, search.k, bound, search.normalize_siblings, search.allowed)
            counts.append(np.diff(ranking[0]))
            labels.append(ranking[1])
            probabilities.append(ranking[2])
            if evaluations is not None:
                evaluations[rows] = sum(a.n_asked for a in answers)
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return indptr, np.concatenate(labels), np.concatenate(probabilities)

    def pairs(
        self,
        features: EstimatorFeatures,
        rows: NDArray[np.int64],
        labels: NDArray[np.int32],
        search: _native.Search,
        probabilities: NDArray[np.float32],
    ) -> None:
        for begin in range(0, len(rows), ROWS_PER_BATCH):
            some = slice(begin, begin + ROWS_PER_BATCH)
            answers = [_Answers(nodes, features.X) for nodes in self._trees]
            probabilities[some] = self._mean(answers, rows[some], labels[some], search.normalize_siblings)

    def enumerate(self, features: EstimatorFeatures, search: _native.Search) -> Iterator[tuple[int, float]]:
        """The labels of the only row, best first: those above one half, then above a quarter, and so on to all."""
        answers = [_Answers(nodes, features.X) for nodes in self._trees]
        n_labels = self._trees[0].tree.n_labels
        n_given = 0
        for threshold in [*(0.5**i for i in range(1, 30)), 0.0]:
            _, labels, probabilities = self._all_above(
                answers, n_labels, threshold, search.normalize_siblings, search.allowed
            )
            # What was above the last threshold comes first, as it came then.
            yield from zip(labels[n_given:].tolist(), probabilities[n_given:].tolist(), strict=True)
            n_given = len(labels)

    def _batches(self, features: EstimatorFeatures) -> Iterator[tuple[slice, list[_Answers]]]:
        for begin in range(0, features.n_rows, ROWS_PER_BATCH):
            rows = slice(begin, begin + ROWS_PER_BATCH)
            yield rows, [_Answers(nodes, features.X[rows]) for nodes in self._trees]

    def _all_above(
        self,
        answers: list[_Answers],
        k: int,
        threshold: float | NDArray[np.float32],
        normalize_siblings: bool,
        allowed: NDArray[np.uint8] | None,
    ) -> _Ranking:
        found = [
            GuidedSearch(
                a.tree, a.n_rows, threshold=threshold, allowed=allowed, normalize_siblings=normalize_siblings
            )
            .run(a.recall)
            .matrix()
            for a in answers
        ]
        return self._averages(found, answers, k, threshold, normalize_siblings, missing_as_zero=False)

    def _averages(
        self,
        found: list[Any],
        answers: list[_Answers],
        k: int,
        threshold: float | NDArray[np.float32],
        normalize_siblings: bool,
        missing_as_zero: bool,
        label_weight: NDArray[np.float64] | None = None,
    ) -> _Ranking:
        """Of the labels that some tree found, the k best on average with at least their threshold."""
        n_rows, n_labels = found[0].shape
        keys = [np.repeat(np.arange(n_rows), np.diff(m.indptr)) * n_labels + m.indices for m in found]
        pooled = np.unique(np.concatenate(keys))
        rows, labels = np.divmod(pooled, n_labels)
        if len(found) == 1:
            mean = np.empty(len(pooled), dtype=np.float32)
            mean[np.searchsorted(pooled, keys[0])] = found[0].data
        elif missing_as_zero:
            total = np.zeros(len(pooled))
            for weight, key, matrix in zip(self._tree_weight, keys, found, strict=True):
                total[np.searchsorted(pooled, key)] += weight * matrix.data.astype(np.float64)
            mean = (total / sum(self._tree_weight)).astype(np.float32)
        else:
            mean = self._mean(answers, rows, labels, normalize_siblings)
        bound = np.asarray(threshold, dtype=np.float32)
        kept = np.flatnonzero(mean >= (bound if bound.ndim == 0 else bound[labels]))
        worth = mean if label_weight is None else label_weight[labels] * mean
        kept = kept[np.lexsort((labels[kept], -worth[kept], rows[kept]))]
        begin = np.searchsorted(rows[kept], np.arange(n_rows + 1))
        rank = np.arange(len(kept)) - begin[rows[kept]]
        kept = kept[rank < k]
        indptr = np.searchsorted(rows[kept], np.arange(n_rows + 1))
        return indptr, labels[kept].astype(np.int32), mean[kept]

    def _mean(
        self,
        answers: list[_Answers],
        rows: NDArray[np.int64],
        labels: NDArray[Any],
        normalize_siblings: bool,
    ) -> NDArray[np.float32]:
        """The average over the trees for each (row, label), each tree's by walking the label's path."""
        total = np.zeros(len(rows))
        for weight, a in zip(self._tree_weight, answers, strict=True):
            total += weight * path_products(a.tree, a.recall, rows, labels, normalize_siblings).astype(float)
        return (total / sum(self._tree_weight)).astype(np.float32)


class _Answers:
    """What the estimators of a tree said about some rows, so that none is asked the same twice."""

    def __init__(self, nodes: NodeEstimators, X: Any) -> None:
        self._nodes = nodes
        self._X = X
        self.tree = nodes.tree
        self.n_rows = int(X.shape[0])
        self.n_asked: NDArray[np.int64] = np.zeros(self.n_rows, dtype=np.int64)
        self._keys = np.empty(0, dtype=np.int64)  # of the blocks that are known
        self._begin = np.empty(0, dtype=np.int64)
        self._said = np.empty(0, dtype=np.float32)
        self._news: list[tuple[NodeBlocks, NDArray[np.float32]]] = []

    def ask(self, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Ask for blocks that are not known; a search wants no block twice."""
        answers = self._nodes.probabilities(self._X, blocks)
        self.n_asked += np.bincount(blocks.row, minlength=self.n_rows)
        self._news.append((blocks, answers))
        return answers

    def recall(self, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Ask for those blocks only that are not known."""
        self._learn_news()
        keys = self._block_keys(blocks)
        at = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        known = self._keys[at] == keys if len(self._keys) > 0 else np.zeros(len(keys), dtype=bool)
        sizes = np.diff(blocks.begin)
        answers = np.empty(len(blocks), dtype=np.float32)
        is_known = np.repeat(known, sizes)
        shift = np.repeat(self._begin[at[known]] - blocks.begin[:-1][known], sizes[known])
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

"""Candidates: labels that several parts of a forest propose, ranked by their mean probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.model.forest import RowAnswer, Search, TopAnswer, empty_answer


def pooled(
    rows: Sequence[NDArray[np.int64]], labels: Sequence[NDArray[Any]], n_labels: int
) -> NDArray[np.int64]:
    """Return each proposed pair of a row and a label once, as ``row * n_labels + label``, ascending."""
    return np.unique(
        np.concatenate([row * n_labels + label for row, label in zip(rows, labels, strict=True)])
    )


def weighted_mean(parts: Sequence[NDArray[np.float32]], weights: Sequence[float]) -> NDArray[np.float32]:
    """Return the mean as the kernel's forest computes it: in double precision, one part after another."""
    total = np.zeros(len(parts[0]))
    for weight, part in zip(weights, parts, strict=True):
        total += weight * part.astype(np.float64)
    return (total / sum(weights)).astype(np.float32)


def ranked(
    n_rows: int, n_labels: int, pairs: NDArray[np.int64], mean: NDArray[np.float32], search: Search
) -> RowAnswer:
    """Return the `search.k` best pairs of each row that reach their threshold, best first."""
    rows, labels = np.divmod(pairs, n_labels)
    bound = search.label_threshold
    threshold = np.float32(search.threshold) if bound is None else bound[labels]
    worth = mean if search.label_weight is None else search.label_weight[labels] * mean
    kept = np.flatnonzero(mean >= threshold)
    kept = kept[np.lexsort((labels[kept], -worth[kept], rows[kept]))]
    begin = np.searchsorted(rows[kept], np.arange(n_rows + 1))
    kept = kept[np.arange(len(kept)) - begin[rows[kept]] < search.k]
    indptr = np.searchsorted(rows[kept], np.arange(n_rows + 1))
    return indptr, labels[kept].astype(np.int32), mean[kept]


def is_exact(search: Search, n_parts: int = 1) -> bool:
    """Return whether a search finds the k best labels, rather than an approximation."""
    return search.beam == 0 and not (search.missing_as_zero and n_parts > 1)


def best_on_average(
    n_rows: int,
    n_labels: int,
    weights: Sequence[float],
    search: Search,
    propose: Callable[[NDArray[np.int64], int], Sequence[TopAnswer]],
    mean_of: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]],
    ahead: int = 1,
) -> RowAnswer:
    """Return the `search.k` best labels of each row by the mean over several parts, exactly.

    This is Fagin's threshold algorithm. Every part proposes its best labels, and every proposal gets its mean. A label
    that a part does not propose is worth no more to this part than its last proposal. Rows for which a label that no
    part proposes may still be among the best ask for twice as many proposals.

    Parameters
    ----------
    n_rows, n_labels : int
    weights : sequence of float
        Weight of each part in the mean.
    search : Search
    propose : callable
        Takes rows and k. Returns the k best labels of these rows in each part that reach `search.threshold` there.
    mean_of : callable
        Takes rows and labels. Returns the mean of each pair.
    ahead : int
        The first proposals are this many times as many as a row needs at least. More of them cost a part little if it
        scores all labels anyway, and save asking again.
    """
    rows = np.arange(n_rows)
    pairs, means = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    k = ahead * (search.k + 1)  # The last proposal may be as good as the label that it is compared with.
    while True:
        k = min(k, n_labels)
        proposals = propose(rows, k)
        found = [np.nonzero(labels >= 0) for labels, _ in proposals]
        of_parts = [labels[at] for (labels, _), at in zip(proposals, found, strict=True)]
        new = np.setdiff1d(
            pooled([rows[at[0]] for at in found], of_parts, n_labels), pairs, assume_unique=True
        )
        pairs, means = np.append(pairs, new), np.append(means, mean_of(*np.divmod(new, n_labels)))
        order = np.argsort(pairs)
        pairs, means = pairs[order], means[order]
        answer = ranked(n_rows, n_labels, pairs, means, search)
        if k == n_labels:
            return answer
        rows = rows[_may_change(answer, rows, proposals, weights, search)]
        if len(rows) == 0:
            return answer
        k *= 2


def _may_change(
    answer: RowAnswer,
    rows: NDArray[np.int64],
    proposals: Sequence[TopAnswer],
    weights: Sequence[float],
    search: Search,
) -> NDArray[np.bool_]:
    """Return for which rows a label that no part proposes may be among the k best.

    Such a label reaches the threshold in some part, and is worth no more to this part than its last proposal. In
    another part it may be below the threshold, and is worth less there than in the first.
    """
    weight = search.label_weight
    heaviest = 1.0 if weight is None else float(weight.max())

    def worth(labels: NDArray[Any], probabilities: NDArray[np.float32]) -> NDArray[np.float64]:
        value = probabilities.astype(np.float64) * (1.0 if weight is None else weight[labels])
        return np.where(labels >= 0, value, -1)

    # A part with fewer proposals than it was asked for has no more labels that reach the threshold.
    last = np.array([worth(labels[:, -1], probabilities[:, -1]) for labels, probabilities in proposals])
    largest = last.max(axis=0)
    bound = np.minimum(largest, np.maximum(last, search.threshold * heaviest))
    # Means are rounded to single precision.
    bound = np.dot(weights, bound) / sum(weights) * (1 + 2**-20) + heaviest * 2**-149
    indptr, labels, probabilities = answer
    full = np.diff(indptr)[rows] == search.k
    kth = np.full(len(rows), -1.0)
    at = indptr[rows[full] + 1] - 1
    kth[full] = worth(labels[at], probabilities[at])
    # Of labels that are worth nothing any may be there.
    may_change: NDArray[np.bool_] = (largest >= 0) & (bound >= kth) & (~full | (largest > 0))
    return may_change


def by_thresholds(
    above: Callable[[Search], RowAnswer], n_labels: int, search: Search
) -> Iterator[tuple[int, float]]:
    """Yield the labels of the only row, best first: those above 1/2, then those above 1/4, and so on until all."""
    n_given = 0
    for threshold in [*(0.5**i for i in range(1, 30)), 0.0]:
        _, labels, probabilities = above(search.replace(k=n_labels, threshold=threshold))
        # The labels above the previous threshold come first, in the same order.
        yield from zip(labels[n_given:].tolist(), probabilities[n_given:].tolist(), strict=True)
        n_given = len(labels)


def as_top(answer: RowAnswer, k: int) -> TopAnswer:
    """Return the labels of each row as an array of k columns, filled up with -1 and 0."""
    indptr, labels, probabilities = answer
    top = empty_answer(len(indptr) - 1, k)
    top[0].fill(-1)
    top[1].fill(0)
    found = np.arange(k) < np.diff(indptr)[:, np.newaxis]
    top[0][found], top[1][found] = labels, probabilities
    return top


def row_of_each(indptr: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row of each entry of a sparse matrix."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))

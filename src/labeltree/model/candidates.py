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

"""Ranked predictions compared with the true labels: which rank of which row is a hit."""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.metrics.label_sets import NO_LABEL, IntArray, LabelLists, LabelSets, row_numbers
from labeltree.metrics.reading import Labels, SparseMatrix, canonical_csr, read_both
from labeltree.validation import check_count
from labeltree.wording import count_text


@dataclass(frozen=True)
class Judgement:
    """The first ranks of every row: the label at each rank, or `NO_LABEL`, and whether it is true."""

    truth: LabelSets
    labels: IntArray
    hits: NDArray[np.bool_]
    names: list[Hashable] | None
    """The user's labels if `y_true` is a list of lists; None if labels are columns of `y_true`."""


def judge(y_true: Labels, y_pred: Labels, depth: int) -> Judgement:
    """Compare the first `depth` ranks of `y_pred` with `y_true`."""
    check_count("k", depth)
    _check_ordered(y_pred)
    truth, predicted, names = read_both(y_true, y_pred)
    if isinstance(predicted, LabelLists):
        labels = predicted.first(depth)
    elif sp.issparse(predicted):
        check_columns(predicted.shape[1], truth.n_labels)
        labels = _rank_scores(predicted, depth)
    elif predicted.dtype.kind in "iu":
        labels = _filled_up(predicted, depth)
    else:
        raise ValueError(
            f"y_pred must be an array of integer label ids in rank order, got dtype {predicted.dtype}; "
            "pass scores as a sparse matrix, scipy.sparse.csr_array(scores)"
        )
    _check_width(y_pred, depth, truth.n_labels)
    check_known(labels, truth.n_labels)
    check_unique(labels, names)
    hits = truth.contains(np.arange(truth.n_rows, dtype=np.int64)[:, None], labels)
    return Judgement(truth, labels, hits, names)


def check_columns(n_pred: int, n_true: int) -> None:
    if n_pred != n_true:
        raise ValueError(
            f"y_true has {count_text(n_true, 'column')} and y_pred {n_pred}; they must have the same labels"
        )


def check_known(labels: IntArray, n_labels: int, rows: IntArray | None = None) -> None:
    """Refuse labels that are not columns of `y_true`; a flat array of labels needs the row of each."""
    wrong = np.argwhere((labels < NO_LABEL) | (labels >= n_labels))
    if wrong.size:
        at = tuple(wrong[0])
        raise ValueError(
            f"y_pred holds label {labels[at]} in row {at[0] if rows is None else rows[at]}; "
            f"expected 0 to {n_labels - 1}, the columns of y_true, or -1 for no prediction"
        )


def check_unique(labels: IntArray, names: list[Hashable] | None = None) -> None:
    """Refuse a row with the same label twice, because it would count twice."""
    ordered = np.sort(labels, axis=1)
    twice = np.argwhere((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NO_LABEL))
    if twice.size:
        row, rank = twice[0]
        label = ordered[row, rank] if names is None else repr(names[ordered[row, rank]])
        raise ValueError(
            f"y_pred holds label {label} more than once in row {row}; "
            "expected distinct labels, not 0/1 or scores"
        )


def top_positions(sizes: IntArray, scores: NDArray[Any], depth: int) -> IntArray:
    """Return the positions of the highest scores of each row, best first; ties keep their order.

    `scores` holds the scores of the first row, then of the second, and so on; `sizes` is the number of scores of
    each row. Rows with fewer than `depth` scores are filled with -1.
    """
    starts = np.cumsum(sizes) - sizes
    positions = np.full((len(sizes), depth), -1, dtype=np.int64)
    # Rows of the same size form a rectangle. Sorting it row by row is faster than sorting all by (row, score).
    by_size = np.argsort(sizes, kind="stable")
    for rows in np.split(by_size, np.flatnonzero(np.diff(sizes[by_size])) + 1):
        stored = starts[rows, None] + np.arange(sizes[rows[0]])
        order = np.argsort(-scores[stored], axis=1, kind="stable")[:, :depth]
        positions[rows, : order.shape[1]] = np.take_along_axis(stored, order, axis=1)
    return positions


def _rank_scores(scores: SparseMatrix, depth: int) -> IntArray:
    csr = canonical_csr(scores, "y_pred")
    values = csr.data if csr.data.dtype.kind == "f" else csr.data.astype(np.float64)
    sizes = np.diff(csr.indptr).astype(np.int64)
    if (nan := np.flatnonzero(np.isnan(values))).size:
        raise ValueError(f"y_pred holds NaN in row {row_numbers(sizes)[nan[0]]}; scores must be numbers")
    # The position -1 means no more labels and selects the last entry.
    columns = np.append(csr.indices.astype(np.int64), NO_LABEL)
    labels: IntArray = columns[top_positions(sizes, values, depth)]
    return labels


def _filled_up(labels: NDArray[np.integer[Any]], depth: int) -> IntArray:
    filled = np.full((len(labels), depth), NO_LABEL, dtype=np.int64)
    filled[:, : labels.shape[1]] = labels[:, :depth]
    return filled


def _check_ordered(y_pred: Labels) -> None:
    if isinstance(y_pred, list):
        for number, row in enumerate(y_pred):
            if isinstance(row, AbstractSet):
                raise ValueError(f"y_pred[{number}] is a set, which has no order; rank its labels in a list")


def _check_width(y_pred: Labels, depth: int, n_labels: int) -> None:
    """Refuse an array with fewer columns than the cut-off; rows of a list may be shorter."""
    shape: tuple[int, ...] = () if sp.issparse(y_pred) else getattr(y_pred, "shape", ())
    if len(shape) == 2 and (width := shape[1]) < min(depth, n_labels):
        raise ValueError(
            f"y_pred has {width} columns, too few for k={depth}; predict at least {depth} labels per row, "
            "or lower k"
        )

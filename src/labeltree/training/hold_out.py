"""Rows that are set aside: some of the examples to train on, the others to decide by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from labeltree.labels.reading import LabelRows
from labeltree.validation import is_pair


class Rows(NamedTuple):
    """Some of the examples, with all the classes."""

    X: Any
    y: LabelRows
    sample_weight: Any


def set_aside(
    X: Any, labels: LabelRows, sample_weight: Any, share: float, random_state: Any
) -> tuple[Rows, Rows]:
    """Split examples at random: those to train on, and this share of them to decide by."""
    n_rows = labels.n_rows
    n_aside = round(share * n_rows)
    if not 0 < n_aside < n_rows:
        raise ValueError(
            f"holdout={share} of {n_rows} rows leaves none to train on or none to decide by: pass more rows, or "
            "another share"
        )
    shuffled = check_random_state(random_state).permutation(n_rows)
    # In their order, so that what is trained does not depend on how rows are drawn more than it must.
    parts = np.sort(shuffled[n_aside:]), np.sort(shuffled[:n_aside])
    trained, aside = (_take(X, labels, sample_weight, part) for part in parts)
    return trained, aside


def _take(X: Any, labels: LabelRows, sample_weight: Any, rows: NDArray[np.int64]) -> Rows:
    weight = sample_weight
    if weight is not None and np.ndim(weight) > 0:
        weight = np.asarray(weight)[rows]
    taken = tuple(_safe_indexing(part, rows) for part in X) if is_pair(X) else _safe_indexing(X, rows)
    return Rows(taken, labels.take(rows), weight)

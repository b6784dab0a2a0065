"""The split of examples into rows to train on and held-out rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from labeltree import scikit_learn
from labeltree.labels.reading import LabelRows
from labeltree.validation import take_rows
from labeltree.wording import count_text


class Rows(NamedTuple):
    """Some of the examples, with all the classes."""

    X: Any
    y: LabelRows
    sample_weight: Any


def set_aside(
    X: Any, labels: LabelRows, sample_weight: Any, share: float, random_state: Any
) -> tuple[Rows, Rows]:
    """Split examples at random into the rows to train on and a held-out share."""
    n_rows = labels.n_rows
    n_aside = round(share * n_rows)
    if not 0 < n_aside < n_rows:
        raise ValueError(
            f"holdout={share} of {count_text(n_rows, 'row')} leaves none to train on or none to decide by: "
            "pass more rows, or "
            "another share"
        )
    shuffled = scikit_learn.check_random_state(random_state).permutation(n_rows)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    # Rows keep their order, so that training depends on the draw as little as possible.
    trained, aside = (
        Rows(
            take_rows(X, rows),
            labels.take(rows),
            weight if weight is None or weight.ndim == 0 else weight[rows],
        )
        for rows in (np.sort(shuffled[n_aside:]), np.sort(shuffled[:n_aside]))
    )
    return trained, aside

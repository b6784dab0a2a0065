"""The labels that a model decides for, and how good they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree.cli.predicted_labels import best_labels, chosen_labels
from labeltree.metrics.outcomes import count_outcomes, read_decided


@dataclass(frozen=True)
class DecidedLabels:
    """How good the labels are that `predict` returns; F1 is from 0 to 1.

    Macro F1 is the mean over the labels that are true or predicted in some row.
    """

    micro_f1: float
    macro_f1: float
    labels_that_occur: int
    predicted_per_row: float
    true_per_row: float

    @classmethod
    def measure(cls, y: Any, decided: list[list[Any]]) -> DecidedLabels:
        """Compare decided labels with y: a matrix, or lists of labels."""
        truth, predicted = read_decided(y, decided)
        outcomes = count_outcomes(truth, predicted, per="label")
        both, sizes = outcomes.both, 2 * outcomes.both + outcomes.only_true + outcomes.only_pred
        occurs = sizes > 0
        return cls(
            micro_f1=float(2 * both.sum() / max(sizes.sum(), 1)),
            macro_f1=float(np.mean(2 * both[occurs] / sizes[occurs])) if occurs.any() else 0.0,
            labels_that_occur=int(occurs.sum()),
            predicted_per_row=len(predicted.labels) / truth.n_rows,
            true_per_row=len(truth.labels) / truth.n_rows,
        )


def decided_lists(model: Any, X: Any) -> list[list[Any]]:
    """Return the labels that `predict` returns, as lists."""
    is_multiclass = model.label_kind_ == "multiclass"  # predict returns the most probable class
    found = best_labels(model, X, 1, 0.0) if is_multiclass else chosen_labels(model, X)
    return [[label for label, _ in row] for row in found.rows()]

"""The rows with the worst errors: true labels that are missed, and wrong labels that the model is sure of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.metrics.label_sets import IntArray, LabelSets
from labeltree.model.forest import Search
from labeltree.model.model import Model
from labeltree.report.evidence import Evidence
from labeltree.validation import take_rows

#: Maximum number of rows in each list, and of rows with the same label.
LISTED_ROWS = 10
SAME_LABEL = 2
#: A miss of a label with fewer training rows is no surprise.
FEWEST_TRAINING_ROWS = 10
#: Ranks are counted up to this one.
LAST_RANK = 1000


#: A row, a label and its probability.
Found: TypeAlias = tuple[int, int, float]


@dataclass(frozen=True)
class RowError:
    """A row, and one label that it misses or that is wrong. Labels are positions in `classes`.

    Attributes
    ----------
    row : int
        The number of the row, from 0.
    label : int
        The missed or wrong label.
    probability : float
        The probability that the model gives the label.
    rank : int or None
        The rank of the label, from 1; None if it is beyond 1,000.
    true : list of int
        The true labels of the row that the model knows.
    n_unknown : int
        The number of its true labels that the model does not know.
    best : list of (int, float)
        The most probable labels of the row, with their probabilities.
    evidence : Evidence
        The words or features that count most for or against the label.
    """

    row: int
    label: int
    probability: float
    rank: int | None
    true: list[int]
    n_unknown: int
    best: list[tuple[int, float]]
    evidence: Evidence


@dataclass(frozen=True)
class RowAnswers:
    """The best labels of all rows beside their true labels: what errors are found in."""

    truth: LabelSets
    n_unknown: IntArray
    ranking: NDArray[np.int32]
    probabilities: NDArray[np.float32]

    @property
    def hits(self) -> NDArray[np.bool_]:
        rows = np.arange(self.truth.n_rows)[:, None]
        return self.truth.contains(rows, self.ranking.astype(np.int64))

    def worst_misses(self, of_true: NDArray[np.float32], label_counts: NDArray[np.int64]) -> list[Found]:
        """Return true labels that are not among the best, the least probable first.

        `of_true` has the probability of each true pair. Labels with few training rows count only if no other is missed.
        """
        truth = self.truth
        missed = ~(self.ranking[truth.rows] == truth.labels[:, None]).any(axis=1)
        counts = label_counts[truth.labels]
        surprising = missed & (counts >= FEWEST_TRAINING_ROWS)
        pairs = np.flatnonzero(surprising if surprising.any() else missed)
        pairs = pairs[np.lexsort((-counts[pairs], of_true[pairs]))]
        return _first(
            (int(truth.rows[pair]), int(truth.labels[pair]), float(of_true[pair])) for pair in pairs
        )

    def false_alarms(self) -> list[Found]:
        """Return wrong labels among the best, the most probable first."""
        rows, ranks = np.nonzero(~self.hits & (self.ranking >= 0) & (self.probabilities > 0))
        order = np.argsort(-self.probabilities[rows, ranks], kind="stable")
        wrong = zip(rows[order].tolist(), ranks[order].tolist(), strict=True)
        return _first(
            (row, int(self.ranking[row, rank]), float(self.probabilities[row, rank])) for row, rank in wrong
        )


def _first(found: Iterable[Found]) -> list[Found]:
    """Return the first errors: one for each row, and few with the same label."""
    chosen: list[Found] = []
    rows: set[int] = set()
    labels: Counter[int] = Counter()
    for error in found:
        row, label, _ = error
        if row in rows or labels[label] == SAME_LABEL:
            continue
        rows.add(row)
        labels[label] += 1
        chosen.append(error)
        if len(chosen) == LISTED_ROWS:
            break
    return chosen


def row_errors(
    errors: Sequence[Found],
    answers: RowAnswers,
    model: Model,
    X: Any,
    search: Search,
    evidence: Callable[[int, int], Evidence],
) -> list[RowError]:
    """Add to each error what a reader wants to know about its row; `evidence` finds that of a label in a row."""
    if not errors:
        return []
    features = model.read(take_rows(X, [row for row, _, _ in errors]))
    ranked, _ = model.forest.top_k(features, search.replace(k=min(LAST_RANK, len(model.label_index))))
    truth = answers.truth
    found = []
    for (row, label, probability), ranks in zip(errors, ranked, strict=True):
        at = np.flatnonzero(ranks == label)
        best = zip(answers.ranking[row].tolist(), answers.probabilities[row].tolist(), strict=True)
        error = RowError(
            row=row,
            label=label,
            probability=probability,
            rank=int(at[0]) + 1 if len(at) else None,
            true=truth.labels[truth.rows == row].tolist(),
            n_unknown=int(answers.n_unknown[row]),
            best=[pair for pair in best if pair[0] >= 0],
            evidence=evidence(row, label),
        )
        found.append(error)
    return found

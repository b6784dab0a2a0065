"""`CalibrationReport`: calibration of a model in total, by level of the tree, and by frequency of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.measures import ReliabilityCurve, log_loss, reliability_curve
from labeltree.calibration.scored_pairs import ScoredPairs, label_pairs, node_pairs

if TYPE_CHECKING:
    from labeltree.questions import Questions

#: The bins of the curves; they are narrow near 0, where most probabilities are.
PROBABILITY_BINS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class CalibrationMeasures:
    """Measures of calibration for some pairs of a row and a label or node.

    Attributes
    ----------
    name : str
        Description of the pairs.
    n_pairs, n_positives : float
        Number of pairs, and of positive pairs; estimates if the pairs are a sample.
    n_rows : int
        Number of rows of the pairs.
    log_loss, expected_calibration_error : float
        Means over all pairs. They are small, because nearly all pairs are easy; the sums per row say more.
    log_loss_per_row, error_per_row : float
        Sums over the pairs of a row, averaged over rows: in nats, and as the number of labels too many or too few.
    curve : ReliabilityCurve
    """

    name: str
    n_pairs: float
    n_positives: float
    n_rows: int
    log_loss: float
    curve: ReliabilityCurve

    @property
    def expected_calibration_error(self) -> float:
        return self.curve.expected_calibration_error

    @property
    def log_loss_per_row(self) -> float:
        return self.log_loss * self.n_pairs / self.n_rows

    @property
    def error_per_row(self) -> float:
        return self.expected_calibration_error * self.n_pairs / self.n_rows

    @classmethod
    def of(cls, name: str, pairs: ScoredPairs) -> CalibrationMeasures:
        """Measure pairs; there must be at least one."""
        return cls(
            name,
            float(pairs.weight.sum()),
            float(pairs.weight @ pairs.outcome),
            pairs.n_rows,
            log_loss(pairs.outcome, pairs.probability, weight=pairs.weight),
            reliability_curve(pairs.outcome, pairs.probability, weight=pairs.weight, bins=PROBABILITY_BINS),
        )


@dataclass(frozen=True)
class CalibrationReport:
    """Measures of calibration for a model.

    Attributes
    ----------
    labels : CalibrationMeasures
        All pairs of a row and a label.
    levels : list of CalibrationMeasures
        Pairs of a row and a node, given its parent, for each level of the trees from the root down; empty for models
        without node scores, such as online models.
    frequencies : list of CalibrationMeasures
        Pairs of a row and a label, by the number of training rows of the label: none, 1 to 9, 10 to 99, and so on.
    """

    labels: CalibrationMeasures
    levels: list[CalibrationMeasures]
    frequencies: list[CalibrationMeasures]

    def __str__(self) -> str:
        lines = [f"{'':32}{'positives':>12}{'log loss':>12}{'error':>12}   per row"]
        for measures in [self.labels, *self.levels, *self.frequencies]:
            lines.append(
                f"{measures.name:32}{measures.n_positives / measures.n_rows:12.4f}"
                f"{measures.log_loss_per_row:12.4f}{measures.error_per_row:12.4f}"
            )
        return "\n".join(lines)


def measure_calibration(model: Questions, X: Any, y: Any, *, random_state: int = 0) -> CalibrationReport:
    """Measure the calibration of a model on held-out rows.

    Parameters
    ----------
    model : a trained classifier of this library
    X, y
        Held-out rows and their labels, in any form that `fit` takes. Labels that the model does
        not know are ignored: its probabilities say nothing about them.
    random_state : int
        Seed of the sample of unlikely pairs: see `label_pairs`.

    Returns
    -------
    CalibrationReport

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.calibration import measure_calibration
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
    >>> report = measure_calibration(LabelTreeClassifier(random_state=0).fit(X, y), X, y)
    >>> [measures.name for measures in [report.labels, *report.levels, *report.frequencies]]
    ['labels', 'nodes on level 0', 'nodes on level 1', 'labels of 1 to 9 rows']
    """
    pairs = label_pairs(model, X, y, random_state=random_state)
    levels: list[CalibrationMeasures] = []
    if model.model_.forest.has_node_scores:
        nodes = node_pairs(model, X, y, random_state=random_state)
        for level in np.unique(nodes.group).tolist():
            chosen = nodes.where(nodes.group == level)
            levels.append(CalibrationMeasures.of(f"nodes on level {level}", chosen))
    frequencies = _by_frequency(pairs, model.label_counts_)
    return CalibrationReport(CalibrationMeasures.of("labels", pairs), levels, frequencies)


def _by_frequency(pairs: ScoredPairs, label_counts: NDArray[np.int64]) -> list[CalibrationMeasures]:
    digits = np.char.str_len(label_counts.astype(str))  # 1 for 1 to 9, 2 for 10 to 99
    digits[label_counts == 0] = 0
    band = digits[pairs.group]
    measured = []
    for n_digits in np.unique(band).tolist():
        name = f"{10 ** (n_digits - 1):,} to {10**n_digits - 1:,}" if n_digits > 0 else "no"
        measured.append(CalibrationMeasures.of(f"labels of {name} rows", pairs.where(band == n_digits)))
    return measured

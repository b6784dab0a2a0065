"""Hints of `evaluate`: what looks bad, and the command that may make it better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.fitting import can_be_calibrated
from labeltree.calibration.measures import reliability_curve
from labeltree.calibration.report import PROBABILITY_BINS, CalibrationMeasures
from labeltree.cli.decided_labels import DecidedLabels
from labeltree.decisions.decision import HALF
from labeltree.report.cures import ALREADY_CALIBRATED, LARGER_F1, miscalibrated


@dataclass(frozen=True)
class Hint:
    """What looks bad, with its figures, and the command that may cure it."""

    finding: str
    command: str


def find_hints(
    model: Any,
    path: Any,
    decided: DecidedLabels,
    n_rows: int,
    probabilities: NDArray[np.float32],
    hits: NDArray[np.bool_],
    data_options: str = "",
) -> list[Hint]:
    """Return hints from the best labels of each row, their probabilities and whether they are true.

    `data_options` are the options of the data's columns, which the commands repeat.
    """
    hints: list[Hint] = []
    if not hits.any():  # such as where the model knows none of the labels
        return hints
    n_true = decided.true_per_row * n_rows
    threshold, value = best_threshold(probabilities.ravel(), hits.ravel(), n_true)
    if (
        model.decision_ is HALF
        and value >= decided.micro_f1 + LARGER_F1
        and model.label_kind_ != "multiclass"
    ):
        hints.append(
            Hint(
                f"{decided.predicted_per_row:.1f} labels per row are predicted, {decided.true_per_row:.1f} are true. "
                f"With the threshold {threshold:.2g}, micro F1 would be {value:.1%} or more.",
                f"labeltree decide {path} VALID{data_options} --metric micro_f1",
            )
        )
    found = miscalibrated(_calibration(probabilities, hits, n_true, n_rows))
    if found is not None and can_be_calibrated(model):
        maps = getattr(model.model_.forest, "calibration", None)
        advice = "" if maps is None else f" {ALREADY_CALIBRATED}"
        hints.append(Hint(found.describe() + advice, f"labeltree calibrate {path} VALID{data_options}"))
    return hints


def best_threshold(
    probabilities: NDArray[np.float32], hits: NDArray[np.bool_], n_true: float
) -> tuple[float, float]:
    """Return the threshold with the largest micro F1 of some pairs, and this F1; `n_true` counts all true pairs.

    Examples
    --------
    >>> import numpy as np
    >>> best_threshold(np.float32([0.9, 0.75, 0.5, 0.25]), np.array([True, False, True, False]), 2)
    (0.5, 0.8)
    """
    order = np.argsort(-probabilities, kind="stable")
    ordered, n_both = probabilities[order], np.cumsum(hits[order])
    f1 = 2 * n_both / (np.arange(1, len(order) + 1) + n_true)
    # A threshold takes all pairs of the same probability, or none.
    f1[:-1][ordered[:-1] == ordered[1:]] = 0.0
    at = int(np.argmax(f1))
    return float(ordered[at]), float(f1[at])


def _calibration(
    probabilities: NDArray[np.float32], hits: NDArray[np.bool_], n_true: float, n_rows: int
) -> CalibrationMeasures:
    curve = reliability_curve(hits.ravel(), np.clip(probabilities.ravel(), 0, 1), bins=PROBABILITY_BINS)
    return CalibrationMeasures("best labels", float(hits.size), n_true, n_rows, 0.0, curve)

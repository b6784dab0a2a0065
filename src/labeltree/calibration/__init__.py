"""Measures of calibration, and maps that calibrate the probabilities of a model.

`measure_calibration` measures a model on held-out rows: its labels, its nodes level by level, and its labels by
frequency. `reliability_curve`, `expected_calibration_error` and `log_loss` measure any probabilities.
`LabelTreeClassifier.calibrate` fits a `Calibration`.
"""

from labeltree.calibration.level_maps import Calibration
from labeltree.calibration.measures import (
    ReliabilityCurve,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)
from labeltree.calibration.report import CalibrationMeasures, CalibrationReport, measure_calibration
from labeltree.calibration.scored_pairs import ScoredPairs, label_pairs, node_pairs

__all__ = [
    "Calibration",
    "CalibrationMeasures",
    "CalibrationReport",
    "ReliabilityCurve",
    "ScoredPairs",
    "expected_calibration_error",
    "label_pairs",
    "log_loss",
    "measure_calibration",
    "node_pairs",
    "reliability_curve",
]

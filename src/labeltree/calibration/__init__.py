"""Are the probabilities right? Measures of that, and maps from scores to probabilities that make them so.

`measure_calibration` judges a model on rows that it has not seen: its labels, its nodes level by level, and its labels
by how frequent they are. `reliability_curve`, `expected_calibration_error` and `log_loss` take any probabilities.
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

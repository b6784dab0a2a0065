"""What could make the model better, where the measurements show that something is wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from labeltree.calibration import CalibrationMeasures
from labeltree.report.measures import Report

#: How much larger micro-F1 must be with another threshold, and how much of the true labels must be wrong otherwise.
LARGER_F1 = 0.02
SHARE_OF_LABELS = 0.05
#: Bins below this probability are a sample, and say little about single labels.
LEAST_PROBABILITY = 0.03
#: A bin is off by more than chance if its error is more than this number of standard deviations.
DEVIATIONS = 4.0

#: What a calibrated model with wrong probabilities tells about the rows.
ALREADY_CALIBRATED = "The model is calibrated, but these rows differ from the rows of its calibration."


class Cure(NamedTuple):
    """What is wrong, with its figures, and what to do: a command, or advice."""

    finding: str
    command: str
    advice: str = ""


class MiscalibratedBin(NamedTuple):
    """Labels of similar probability that come true more or less often than they should."""

    low: float
    high: float
    probability: float
    frequency: float

    def describe(self) -> str:
        """Return what is wrong in one sentence."""
        said = f"{self.low:.0%} to {self.high:.0%}"
        return f"Labels said to be {said} probable come true in {self.frequency:.0%} of the cases."


def find_cures(report: Report) -> list[Cure]:
    """Return a cure for each thing that the measurements show to be wrong."""
    cures = [_decide(report), _calibrate(report), _widen(report), _learn(report)]
    return [cure for cure in cures if cure is not None]


def _decide(report: Report) -> Cure | None:
    curve = report.thresholds
    at = int(np.argmax(curve.micro_f1))
    if curve.micro_f1[at] < report.micro_f1 + LARGER_F1:
        return None
    or_less = " or less" if at == 0 else ""
    empty = report.n_empty / report.n_rows
    nothing = f" No label is predicted for {empty:.0%} of the rows." if empty >= SHARE_OF_LABELS else ""
    return Cure(
        f"Micro-F1 is {report.micro_f1:.1%} with the present decision ({report.decision.describe()}). With the "
        f"threshold {curve.threshold[at]:g}{or_less} it would be {curve.micro_f1[at]:.1%} on these rows.{nothing}",
        "labeltree decide MODEL VALID --metric micro_f1",
    )


def _calibrate(report: Report) -> Cure | None:
    found = miscalibrated(report.calibration.labels)
    if found is None or not report.can_be_calibrated:
        return None
    return Cure(
        f"{found.describe()} The probabilities are off by more than chance.",
        "labeltree calibrate MODEL VALID",
        "" if report.model.facts["calibration"] == "none" else ALREADY_CALIBRATED,
    )


def _widen(report: Report) -> Cure | None:
    if report.first_tree is None:
        return None
    lost = report.first_tree.lost
    if lost.n_left_out < SHARE_OF_LABELS * (lost.n_true - lost.n_found) or lost.n_left_out == 0:
        return None
    return Cure(
        f"{lost.n_left_out:,} true labels are probable enough, but the beam is too narrow to find them.",
        "labeltree evaluate MODEL DATA --search exact",
        "Exact search, or a larger --beam, finds them.",
    )


def _learn(report: Report) -> Cure | None:
    n_true = int((report.outcomes.both + report.outcomes.only_true).sum()) + report.n_unknown
    if report.n_unknown < SHARE_OF_LABELS * n_true:
        return None
    return Cure(
        f"{report.n_unknown / n_true:.0%} of the true labels are unknown to the model: no training row has them.",
        "labeltree train MORE_DATA --model MODEL",
        "Train on rows that have these labels.",
    )


def miscalibrated(labels: CalibrationMeasures) -> MiscalibratedBin | None:
    """Return the bin with the largest error, if errors beyond chance amount to 5 % of the true labels.

    The number of positives in a bin has the standard deviation ``sqrt(n * p * (1 - p))``.
    """
    curve, edges = labels.curve, labels.curve.edges
    there = (curve.mass > 0) & (edges[:-1] >= LEAST_PROBABILITY)
    probability, frequency = curve.probability[there], curve.frequency[there]
    error = np.abs(frequency - probability) * curve.mass[there]
    deviation = np.sqrt(curve.mass[there] * np.maximum(probability * (1 - probability), 1e-6))
    beyond = np.where(error > DEVIATIONS * deviation, error, 0.0)
    if beyond.sum() < SHARE_OF_LABELS * labels.n_positives or beyond.sum() == 0:
        return None
    at = int(np.argmax(beyond))
    low, high = [pair for pair, is_there in zip(pairwise(edges.tolist()), there, strict=True) if is_there][at]
    return MiscalibratedBin(low, high, float(probability[at]), float(frequency[at]))

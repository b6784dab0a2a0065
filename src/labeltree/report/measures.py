"""All measurements of a report, made on held-out rows."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration import CalibrationReport, measure_calibration
from labeltree.calibration.scored_pairs import has_node_probabilities, scores_of_trees
from labeltree.decisions.decision import Decision
from labeltree.decisions.validation_pairs import ScoredPairs
from labeltree.labels.reading import LabelRows, find_labels
from labeltree.metrics.label_sets import IntArray, LabelSets, row_numbers
from labeltree.metrics.outcomes import Outcomes, count_outcomes
from labeltree.prediction import LabelTreePredictor
from labeltree.report.curves import THRESHOLDS, RankCurve, ThresholdCurve, rank_curve, threshold_curve
from labeltree.report.frequency import FrequencyBand, frequency_bands
from labeltree.report.lost_labels import LostLabels, lost_labels
from labeltree.report.node_costs import NodeCosts, node_costs
from labeltree.report.queries import QueryTimes, query_times
from labeltree.trees import LabelTree
from labeltree.validation import check_count

#: The curves by rank end at this rank.
RANKS = 10


@dataclass(frozen=True)
class TreeMeasures:
    """Measurements of single nodes: those of the first tree, evaluated without the other trees."""

    tree: LabelTree
    lost: LostLabels
    costs: NodeCosts


@dataclass(frozen=True)
class Report:
    """The quality of a model and its errors.

    Attributes
    ----------
    classes : array of shape (n_labels,)
    label_counts : array of shape (n_labels,)
        The number of training rows of each label.
    n_rows, n_unknown : int
        The number of held-out rows, and of their labels that the model does not know. These count as missed.
    n_trees : int
    k : int
        The number of best labels of each row for measurements that are not by rank.
    ranks : RankCurve
    frequencies : list of FrequencyBand
    calibration : CalibrationReport
    thresholds : ThresholdCurve
    decision : Decision
        How `predict` chooses labels.
    outcomes : Outcomes
        True positives, false negatives and false positives of `predict`, for each label.
    queries : QueryTimes
    first_tree : TreeMeasures or None
        None for online models and trees over examples: their nodes cannot be evaluated one by one.
    """

    classes: NDArray[Any]
    label_counts: NDArray[np.int64]
    n_rows: int
    n_unknown: int
    n_trees: int
    k: int
    ranks: RankCurve
    frequencies: list[FrequencyBand]
    calibration: CalibrationReport
    thresholds: ThresholdCurve
    decision: Decision
    outcomes: Outcomes
    queries: QueryTimes
    first_tree: TreeMeasures | None


def measure_report(model: LabelTreePredictor, X: Any, y: Any, *, k: int = 5, random_state: int = 0) -> Report:
    """Measure a model on rows that it was not trained on, for `report_page`.

    Parameters
    ----------
    model : a trained classifier of this library
    X, y
        Held-out rows and their labels, in any form that `fit` takes. Labels that the model does not know count as
        missed.
    k : int
        The number of best labels for measurements by label frequency and by tree level.
    random_state : int
        The seed of the sample of pairs that calibration is measured on.

    Returns
    -------
    Report

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.report import measure_report
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
    >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
    >>> report = measure_report(model, X, y, k=1)
    >>> report.ranks.precision[:1], report.first_tree.lost.n_lost
    (array([1.]), array([0, 1]))
    """
    check_count("k", k)
    model._check_trained()
    truth, n_unknown_of_row = _read_truth(y, model)
    features = model._features(X)
    if features.n_rows != truth.n_rows:
        raise ValueError(
            f"X and y must have the same number of rows, got {features.n_rows} and {truth.n_rows}"
        )
    n_unknown, k = int(n_unknown_of_row.sum()), min(k, len(model.classes_))
    ranking, _ = model._top_k(features, max(RANKS, k), 0.0, None, None)
    hits = truth.contains(np.arange(truth.n_rows)[:, None], ranking.astype(np.int64))
    likely = model._above(features, None, float(THRESHOLDS[0]), None, None, None)
    decided = model._decided(features, None)
    predicted = LabelSets.from_pairs(
        row_numbers(np.diff(decided.indptr)), decided.indices.astype(np.int64), truth.n_rows, truth.n_labels
    )
    labels = _label_rows(truth, model)
    return Report(
        classes=model.classes_,
        label_counts=model.label_counts_,
        n_rows=truth.n_rows,
        n_unknown=n_unknown,
        n_trees=len(model._tree_shapes()),
        k=k,
        ranks=rank_curve(hits[:, :RANKS], truth.sizes + n_unknown_of_row),
        frequencies=frequency_bands(model.label_counts_, truth, ranking[:, :k]),
        calibration=measure_calibration(model, X, labels, random_state=random_state),
        thresholds=threshold_curve(ScoredPairs.of(likely, truth, n_unknown, float(THRESHOLDS[0]))),
        decision=model.decision_,
        outcomes=count_outcomes(truth, predicted, per="label"),
        queries=query_times(model, X, truth.n_rows, k),
        first_tree=_measure_tree(_first_tree_of(model), X, truth, labels, k, random_state)
        if has_node_probabilities(model)
        else None,
    )


def _read_truth(y: Any, model: LabelTreePredictor) -> tuple[LabelSets, IntArray]:
    """Return the known labels of each row, and the number of its unknown labels."""
    names = model._label_names()
    indptr, positions = find_labels(y, names)
    rows, n_rows = row_numbers(np.diff(indptr)), len(indptr) - 1
    known = positions >= 0
    if not known.any():
        raise ValueError(
            "a report needs at least one row with a label that the model knows, but y has none: check that y belongs "
            "to the data of the model"
        )
    truth = LabelSets.from_pairs(rows[known], positions[known].astype(np.int64), n_rows, len(names))
    return truth, np.bincount(rows[~known], minlength=n_rows)


def _label_rows(truth: LabelSets, model: LabelTreePredictor) -> LabelRows:
    indptr = np.concatenate([[0], np.cumsum(truth.sizes)]).astype(np.int64)
    return LabelRows(indptr, truth.labels.astype(np.int32), model.classes_, model.label_kind_)


def _first_tree_of(model: LabelTreePredictor) -> LabelTreePredictor:
    """Return the model with only its first tree, and the calibration of that tree."""
    if model._is_one_tree:
        return model
    alone = copy.copy(model)
    alone.weights_ = model.weights_[:1]
    alone.tree_weight = None
    if "calibration_" in vars(model):
        alone.calibration_ = replace(model.calibration_, trees=model.calibration_.trees[:1])
    return alone


def _measure_tree(
    model: LabelTreePredictor, X: Any, truth: LabelSets, labels: LabelRows, k: int, random_state: int
) -> TreeMeasures:
    scores = scores_of_trees(model, X, labels, random_state)[0]
    ranking, probabilities = model._top_k(model._features(X), k, 0.0, None, None)
    return TreeMeasures(
        model.tree_,
        lost_labels(model.tree_, scores, truth, ranking, probabilities),
        node_costs(model.tree_, scores, truth.n_rows),
    )

"""All measurements of a report, made on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration import CalibrationReport, measure_calibration
from labeltree.calibration.fitting import can_be_calibrated
from labeltree.decisions.decision import Decision
from labeltree.labels.reading import LabelRows, find_labels
from labeltree.metrics.label_sets import IntArray, LabelSets, row_numbers
from labeltree.metrics.outcomes import Outcomes, count_outcomes
from labeltree.model.explanation import FeatureNames
from labeltree.model.forest import Search
from labeltree.model.label_matrix import decided_labels, validation_pairs
from labeltree.model.model import Model
from labeltree.questions import Questions
from labeltree.report.curves import THRESHOLDS, RankCurve, ThresholdCurve, rank_curve, threshold_curve
from labeltree.report.evidence import EvidenceFinder
from labeltree.report.frequency import FrequencyBand, frequency_bands
from labeltree.report.lost_labels import LostLabels, lost_labels
from labeltree.report.model_facts import ModelFacts, model_facts
from labeltree.report.node_costs import NodeCosts, node_costs
from labeltree.report.queries import QueryTimes, query_times
from labeltree.report.row_errors import RowAnswers, RowError, row_errors
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
    can_be_calibrated : bool
        Whether `calibrate` can correct the probabilities of the model.
    outcomes : Outcomes
        True positives, false negatives and false positives of `predict`, for each label.
    n_empty : int
        The number of rows for which `predict` returns no label.
    misses, false_alarms : lists of RowError
        True labels that are not among the best k, the least probable first. Wrong labels among the best k, the most
        probable first.
    row_ids : sequence or None
        The ids of the rows, if they have any.
    model : ModelFacts
        What the model is, and its parameters.
    queries : QueryTimes
    name_of : callable
        Returns the text to show for a label: the label itself, with its readable name if the model has one.
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
    can_be_calibrated: bool
    outcomes: Outcomes
    n_empty: int
    misses: list[RowError]
    false_alarms: list[RowError]
    row_ids: Sequence[Any] | None
    model: ModelFacts
    queries: QueryTimes
    first_tree: TreeMeasures | None
    name_of: Callable[[Any], str] = str

    @property
    def micro_f1(self) -> float:
        """Micro-F1 of what `predict` returns; unknown labels are missed."""
        twice = 2 * int(self.outcomes.both.sum())
        n_wrong = int((self.outcomes.only_true + self.outcomes.only_pred).sum()) + self.n_unknown
        return twice / max(twice + n_wrong, 1)


def measure_report(
    model: Questions,
    X: Any,
    y: Any,
    *,
    k: int = 5,
    random_state: int = 0,
    texts: Sequence[Any] | None = None,
    ids: Sequence[Any] | None = None,
    feature_names: FeatureNames = None,
) -> Report:
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
    texts : sequence of str, optional
        The texts that X was made from: the report shows those with wrong labels, and marks their words.
    ids : sequence, optional
        The ids of the rows, to show beside their numbers.
    feature_names : sequence of str, optional
        Names for the features, if X was not made from texts; by default those of the model, if it has any.

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
    trained, search = model.model_, model.make_search()
    truth, n_unknown_of_row = _read_truth(y, trained)
    features = trained.read(X)
    if features.n_rows != truth.n_rows:
        raise ValueError(
            f"X and y must have the same number of rows, got {features.n_rows} and {truth.n_rows}"
        )
    n_unknown, n_labels = int(n_unknown_of_row.sum()), len(trained.label_index)
    k = min(k, n_labels)
    forest = trained.forest
    for name, of_rows in (("texts", texts), ("ids", ids)):
        if of_rows is not None and len(of_rows) != truth.n_rows:
            raise ValueError(
                f"{name} must have one entry for each of {truth.n_rows} rows, got {len(of_rows)}"
            )
    ranking, probabilities = forest.top_k(features, search.replace(k=min(max(RANKS, k), n_labels)))
    hits = truth.contains(np.arange(truth.n_rows)[:, None], ranking.astype(np.int64))
    answers = RowAnswers(truth, n_unknown_of_row, ranking[:, :k], probabilities[:, :k])
    of_true = forest.pairs(features, truth.rows, truth.labels.astype(np.int32), search)
    evidence = EvidenceFinder(model, X, texts, feature_names)
    misses, alarms = answers.worst_misses(of_true, trained.label_counts), answers.false_alarms()
    lowest = float(THRESHOLDS[0])
    likely = validation_pairs(trained, X, y, search, lowest)
    decided = decided_labels(trained, features, search)
    predicted = LabelSets.from_pairs(
        row_numbers(np.diff(decided.indptr)), decided.indices.astype(np.int64), truth.n_rows, truth.n_labels
    )
    labels = _label_rows(truth, trained)
    return Report(
        classes=trained.label_index.classes,
        label_counts=trained.label_counts,
        n_rows=truth.n_rows,
        n_unknown=n_unknown,
        n_trees=forest.n_trees,
        k=k,
        ranks=rank_curve(hits[:, :RANKS], truth.sizes + n_unknown_of_row),
        frequencies=frequency_bands(trained.label_counts, truth, ranking[:, :k]),
        calibration=measure_calibration(model, X, labels, random_state=random_state),
        thresholds=threshold_curve(likely),
        decision=trained.decision,
        can_be_calibrated=can_be_calibrated(model),
        outcomes=count_outcomes(truth, predicted, per="label"),
        n_empty=int((predicted.sizes == 0).sum()),
        misses=row_errors(misses, answers, trained, X, search, evidence),
        false_alarms=row_errors(alarms, answers, trained, X, search, evidence),
        row_ids=ids,
        model=model_facts(model),
        queries=query_times(model, X, truth.n_rows, k),
        first_tree=_measure_tree(trained, features, truth, labels, search.replace(k=k), random_state)
        if forest.has_node_scores
        else None,
        name_of=str if trained.label_names is None else partial(_name_beside, trained.label_names),
    )


def _name_beside(names: Mapping[Any, str], label: Any) -> str:
    return f"{names[label]} ({label})" if label in names else str(label)


def _read_truth(y: Any, model: Model) -> tuple[LabelSets, IntArray]:
    """Return the known labels of each row, and the number of its unknown labels."""
    index = model.label_index
    indptr, positions = find_labels(y, index)
    rows, n_rows = row_numbers(np.diff(indptr)), len(indptr) - 1
    known = positions >= 0
    if not known.any():
        raise ValueError(
            "a report needs at least one row with a label that the model knows, but y has none: check that y belongs "
            "to the data of the model"
        )
    truth = LabelSets.from_pairs(rows[known], positions[known].astype(np.int64), n_rows, len(index))
    return truth, np.bincount(rows[~known], minlength=n_rows)


def _label_rows(truth: LabelSets, model: Model) -> LabelRows:
    indptr = np.concatenate([[0], np.cumsum(truth.sizes)]).astype(np.int64)
    return LabelRows(indptr, truth.labels.astype(np.int32), model.label_index.classes, model.label_kind)


def _measure_tree(
    model: Model, features: Any, truth: LabelSets, labels: LabelRows, search: Search, random_state: int
) -> TreeMeasures:
    """Ask the first tree alone, calibrated as it is in the model."""
    forest: Any = model.forest
    forest = forest.first_tree()
    (tree,) = forest.trees
    (scores,) = forest.node_scores(features, labels, search, random_state)
    ranking, probabilities = forest.top_k(features, search)
    return TreeMeasures(
        tree,
        lost_labels(tree, scores, truth, ranking, probabilities),
        node_costs(tree, scores, truth.n_rows),
    )

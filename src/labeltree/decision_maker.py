"""How a model decides which labels a row has, once it knows what for."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.decisions import OFO
from labeltree.decisions.decision import HALF, Decision, Tuning, decide, read_truth
from labeltree.decisions.validation_pairs import ScoredPairs
from labeltree.metrics.names import Metric, get_metric
from labeltree.trained_trees import TrainedTrees

_Estimator = TypeVar("_Estimator", bound="DecisionMaker")


class DecisionMaker(TrainedTrees):
    """Deciding, for every estimator that learns label trees."""

    decision_: Decision = HALF

    def decide_for(
        self: _Estimator,
        metric: str | Metric,
        X_valid: Any = None,
        y_valid: Any = None,
        *,
        method: str | OFO = "auto",
        floor: float = 0.01,
    ) -> _Estimator:
        """Let `predict` give the labels that make a metric largest; kept with the model, as `decision_`.

        Probabilities do not change, nor what `predict_topk` and `predict_proba` give. For metrics at k these are the k
        most probable labels, or if rare labels count more ("psprecision@k") the k best by probability times inverse
        propensity, by the training rows. For others these are all whose probability reaches a threshold: one for all
        labels, or of metrics that are averaged over labels ("macro") one for each.

        Parameters
        ----------
        metric : str or object of `labeltree.metrics`
            As for `labeltree.metrics.get_metric`: "micro_f1", "macro_f1", "micro_jaccard", "hamming", "macro_am",
            "precision@5" and others.
        X_valid, y_valid : optional
            Rows that the model was not trained on, in any form that `fit` takes. Labels that the model does not know
            count as missed. Not needed where the threshold is known: for Hamming, AM and metrics at k.
        method : {"auto", "fixed", "exact", "ofo"} or OFO
            How thresholds are found. "fixed": as they follow from the metric and the shares of training rows that have
            each label. "exact": the best on the validation rows. "ofo": by online F-measure optimisation, for F-beta
            and Jaccard; a `labeltree.decisions.OFO` says how. "auto": "fixed" if possible, else "exact".
        floor : float
            Labels with a smaller probability are not looked at in tuning: no tuned threshold is below.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> model.predict(X)
        [['cat'], ['dog'], ['cat']]
        >>> model.decide_for("micro_f1", X, y).predict(X)
        [['cat', 'pet'], ['dog'], ['cat', 'pet']]
        >>> model.decide_for("precision@1").predict(X)
        [['cat'], ['dog'], ['cat']]
        """
        self._check_trained()
        tuning, chosen = Tuning(method, floor), get_metric(metric)
        if self.label_kind_ == "multiclass":
            raise ValueError(
                "this model was trained on one class per row, and predict gives the most probable class: there is "
                "nothing to decide; train it on lists of labels or a 0/1 matrix"
            )

        def pairs() -> ScoredPairs:
            if X_valid is None or y_valid is None:
                raise ValueError(
                    f"thresholds for {chosen.name} are tuned on validation rows: pass X_valid and y_valid, or train "
                    "with fit_for, which sets rows aside"
                )
            return self._scored_pairs(X_valid, y_valid, floor)

        self.decision_ = decide(chosen, tuning, self.label_counts_, self.n_samples_fit_, pairs)
        return self

    def _scored_pairs(self, X: Any, y: Any, floor: float) -> ScoredPairs:
        """The labels of each row with at least this probability, beside the true ones."""
        features = self._features(X)
        truth, n_unknown = read_truth(y, self._label_names())
        if features.n_rows != truth.n_rows:
            raise ValueError(
                "X and y must have the same number of rows "
                f"(inconsistent: {features.n_rows} and {truth.n_rows})"
            )
        scores = self._above(features, None, floor, None, None, None)
        return ScoredPairs.of(scores, truth, n_unknown, floor)

    def _decided(self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None) -> Any:
        """The labels that are predicted, as a sparse matrix, its rows best first."""
        decision = self.decision_
        if decision.k is not None:
            weight = self._ranking_weight(decision.label_weight, allowed)
            return self._as_matrix(*self._top_k(features, decision.k, 0.0, allowed, None, weight))
        return self._above(features, None, *decision.bounds(), allowed, None)

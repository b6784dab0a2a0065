"""Hyperparameter optimization by labeltree's tuner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from annif.backend.hyperopt import HPRecommendation, HyperparameterOptimizer, TrialWriter
from annif.exception import ConfigurationException, NotSupportedException

from labeltree import LabelTreeClassifier
from labeltree.tuning import Trial, Tuning, tune

if TYPE_CHECKING:
    from annif.corpus import DocumentCorpus

#: Annif's metrics that the tuner has too, by another name.
_METRICS = {
    "NDCG@5": "nDCG@5",
    "NDCG@10": "nDCG@10",
    "Precision@1": "P@1",
    "Precision@3": "P@3",
    "Precision@5": "P@5",
}
#: The number of trials ends the search, not the time: ten years.
_BUDGET = 10 * 365 * 86_400.0


class _Enough(Exception):  # noqa: N818 - nothing is wrong
    """Ends the search."""


class LabelTreeOptimizer(HyperparameterOptimizer):
    """Searches parameters by successive halving: many on few documents, the best of them on more.

    A trial trains and measures one model. Trials run one after another, and each may use several threads.
    """

    def __init__(self, backend: Any, corpus: DocumentCorpus, metric: str) -> None:
        super().__init__(backend, corpus, metric, objective=None)
        metrics = {"NDCG": f"nDCG@{backend.params['limit']}", **_METRICS}
        if metric not in metrics:
            raise NotSupportedException(
                f"cannot optimize {metric!r}; expected one of {', '.join(metrics)}",
                backend_id=backend.backend_id,
            )
        self._tuned_metric = metrics[metric]

    def optimize(self, n_trials: int, n_jobs: int, results_file: TextIO | None) -> HPRecommendation:
        project_id = self._backend.project.project_id
        classifier = self._backend.classifier(self._backend.params, n_jobs)
        if not isinstance(classifier, LabelTreeClassifier):
            raise NotSupportedException(
                "only projects with online=false can be optimized", project_id=project_id
            )
        X, y = self._backend.load_train_data()
        X_valid, y_valid = self._backend.vectors(self._corpus)
        writer = TrialWriter(results_file, dict) if results_file else None
        trials: list[Trial] = []

        def count(trial: Trial) -> None:
            if writer is not None:
                params = {**trial.parameters, "documents": trial.n_rows}
                writer.write({"number": len(trials), "value": trial.score, "params": params})
            trials.append(trial)
            if len(trials) >= n_trials:
                raise _Enough

        try:
            tune(
                X,
                y,
                X_valid,
                y_valid,
                budget=_BUDGET,
                estimator=classifier,
                metric=self._tuned_metric,
                on_trial=count,
            )
        except _Enough:
            pass
        except ValueError as error:  # a parameter that the tuner does not support
            raise ConfigurationException(str(error), project_id=project_id) from error
        chosen = Tuning(tuple(trials), self._tuned_metric, {}, X_valid.shape[0]).chosen
        lines = [f"{name}={value}" for name, value in chosen.parameters.items()]
        return HPRecommendation(lines=lines, score=chosen.score)

"""The trials of a search for parameters, and its result."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labeltree.classifier import LabelTreeClassifier
from labeltree.text.tagger import Tagger
from labeltree.text.vectorizer import TextVectorizer
from labeltree.tuning.parameters_file import TEXT, write_parameters
from labeltree.tuning.pareto import undominated
from labeltree.tuning.space import TEXT_SEARCHED


@dataclass(frozen=True)
class Trial:
    """One model that was trained and measured.

    Attributes
    ----------
    parameters : dict
        The parameters that are searched.
    n_rows : int
        The number of rows it was trained on.
    score : float
        The metric on the validation rows, from 0 to 1; larger is better.
    ms_per_row : float
        Milliseconds to predict a row of a small batch, with one thread.
    model_bytes : int
        The size of the model in memory, with float32 weights.
    seconds : float
        The time of training.
    part_scores : tuple of float
        The metric on each of several parts of the validation rows.
    """

    parameters: dict[str, Any]
    n_rows: int
    score: float
    ms_per_row: float
    model_bytes: int
    seconds: float
    part_scores: tuple[float, ...] = field(default=(), repr=False)

    def is_as_good_as(self, other: Trial) -> bool:
        """Return whether the score is at most two standard errors of the difference below the other's."""
        difference = np.subtract(other.part_scores, self.part_scores)
        if len(difference) < 2:
            return self.score >= other.score
        return other.score - self.score <= 2 * float(difference.std(ddof=1)) / math.sqrt(len(difference))

    def to_json(self) -> dict[str, Any]:
        """Return everything except the scores of the parts."""
        return {name: value for name, value in vars(self).items() if name != "part_scores"}


@dataclass(frozen=True)
class Tuning:
    """All trials of a search, in their order, and the parameters that were chosen.

    Attributes
    ----------
    trials : tuple of Trial
        The first one has the parameters that the search started from.
    metric : str
        The name of the metric that `score` is.
    given : dict
        Parameters that were not searched and differ from their defaults.
    n_valid_rows : int
        The number of validation rows.
    text_given : dict, optional
        For texts: parameters of the vectorizer that were not searched and differ from their defaults.
    is_interrupted : bool
        Whether Ctrl-C ended the search before its time.
    """

    trials: tuple[Trial, ...]
    metric: str
    given: dict[str, Any]
    n_valid_rows: int
    text_given: dict[str, Any] | None = None
    is_interrupted: bool = False

    @property
    def finalists(self) -> list[Trial]:
        """The trials with the most training rows; only they can be compared."""
        most = max(trial.n_rows for trial in self.trials)
        return [trial for trial in self.trials if trial.n_rows == most]

    @property
    def front(self) -> list[Trial]:
        """The finalists that no other beats in score, time and size together, best score first."""
        finalists = self.finalists
        costs = [(-trial.score, trial.ms_per_row, trial.model_bytes) for trial in finalists]
        best = [finalists[i] for i in np.flatnonzero(undominated(costs))]
        return sorted(best, key=lambda trial: -trial.score)

    @property
    def chosen(self) -> Trial:
        """The smallest of the finalists within two standard errors of the best score, and not below the start's."""
        finalists, start = self.finalists, self.start
        best = max(finalists, key=lambda trial: trial.score)
        least = -math.inf if start is None else start.score
        good = [trial for trial in finalists if trial.is_as_good_as(best) and trial.score >= least]
        return min(good, key=lambda trial: (trial.model_bytes, -trial.score))

    @property
    def start(self) -> Trial | None:
        """The finalist with the parameters that the search started from, as a baseline; None if there is none."""
        parameters = self.trials[0].parameters
        return next((trial for trial in self.finalists if trial.parameters == parameters), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters, for `LabelTreeClassifier`."""
        chosen = self.chosen.parameters
        return {**self.given, **{name: chosen[name] for name in chosen if name not in TEXT_SEARCHED}}

    @property
    def text_parameters(self) -> dict[str, Any] | None:
        """The chosen parameters for `TextVectorizer`; None for rows of numbers."""
        if self.text_given is None:
            return None
        chosen = self.chosen.parameters
        return {**self.text_given, **{name: chosen[name] for name in chosen if name in TEXT_SEARCHED}}

    def estimator(self, n_jobs: int | None = None) -> LabelTreeClassifier | Tagger:
        """Return an untrained estimator with the chosen parameters: for texts a `Tagger`."""
        classifier = LabelTreeClassifier(**self.parameters, n_jobs=n_jobs)
        if self.text_parameters is None:
            return classifier
        return Tagger(classifier, TextVectorizer(**self.text_parameters, n_jobs=n_jobs))

    def to_json(self) -> dict[str, Any]:
        """Return the chosen parameters as a file has them: those of the vectorizer under the name ``text``."""
        texts = {} if self.text_parameters is None else {TEXT: self.text_parameters}
        return {**self.parameters, **texts}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chosen parameters to a file for ``labeltree train --parameters``."""
        write_parameters(path, self.to_json())

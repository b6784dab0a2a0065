"""The result of a search for parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree.tuning.parameters_file import write_parameters
from labeltree.tuning.pareto import undominated
from labeltree.tuning.trial import Trial


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
    """

    trials: tuple[Trial, ...]
    metric: str
    given: dict[str, Any]
    n_valid_rows: int

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
        """The smallest of the finalists whose score is within two standard errors of the best."""
        finalists = self.finalists
        best = max(finalists, key=lambda trial: trial.score)
        good = [trial for trial in finalists if trial.is_as_good_as(best)]
        return min(good, key=lambda trial: (trial.model_bytes, -trial.score))

    @property
    def start(self) -> Trial | None:
        """The finalist with the parameters that the search started from, as a baseline; None if there is none."""
        parameters = self.trials[0].parameters
        return next((trial for trial in self.finalists if trial.parameters == parameters), None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters, for `LabelTreeClassifier`."""
        return {**self.given, **self.chosen.parameters}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chosen parameters to a file for ``labeltree train --parameters``."""
        write_parameters(path, self.parameters)

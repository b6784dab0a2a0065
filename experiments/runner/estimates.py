"""How long runs will take: as long as the same took before, or what is known of the set and the system."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from experiments.runner.run import Run
from experiments.runner.store import Store

#: Seconds of a run of one binary tree with reading, saving and predicting, on two cores; roughly.
_SECONDS = {
    "bibtex": 4.0,
    "delicious": 6.0,
    "eurlex57k": 20.0,
    "tate": 20.0,
    "extreme-131k": 150.0,
    "extreme-670k": 900.0,
    "extreme-3m": 6_000.0,
}
_UNKNOWN = 60.0

#: Times that; of what is not here, 1.
_FACTORS = {
    "OnlineLabelTreeClassifier": 4.0,
    "OneVsRestClassifier": 8.0,
    "FastXMLClassifier": 8.0,
    "PfastreXMLClassifier": 8.0,
    "ExtremeTextClassifier": 12.0,
    "extremetext": 15.0,
    "napkinxc-hsm": 30.0,
    "napkinxc-br": 40.0,
    "napkinxc": 5.0,
    "omikuji": 3.0,
    "pecos": 3.0,
}


class Estimates:
    """From all runs that were ever kept, of any code and machine."""

    def __init__(self, store: Store) -> None:
        self._seconds: dict[Any, list[float]] = {}
        for record in store.all():
            if "system" in record.run:  # others are of scripts that make pages by themselves
                for key in _keys(Run.from_json(record.run)):
                    self._seconds.setdefault(key, []).append(record.seconds)

    def seconds(self, run: Run) -> float:
        """Of a run: the mean of the same with any seed, else of the same system on the same set, else a guess."""
        for key in _keys(run):
            if key in self._seconds:
                return statistics.fmean(self._seconds[key])
        share = 1.0 if run.n_rows is None else 0.1
        n_trees = run.parameters.get("n_trees", 1) if run.system == "LabelTreeClassifier" else 1
        return share * n_trees * _SECONDS.get(run.data, _UNKNOWN) * _FACTORS.get(run.system, 1.0)

    def total(self, runs: Iterable[Run]) -> float:
        return sum(self.seconds(run) for run in runs)


def _keys(run: Run) -> list[tuple[Any, ...]]:
    """What a run is like, the most telling first."""
    near = run.system, run.data, run.n_rows, run.parameters.get("n_trees", 1)
    exact = (
        *near,
        repr(sorted((name, repr(value)) for name, value in run.parameters.items())),
        run.features,
    )
    return [exact, near]

"""Parameters that are chosen on development rows: every tenth training row, never a test row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.runner.run import Run
from experiments.runner.series import Series
from experiments.runner.table import C_GRID, SOFTMAX, TREES, TUNED_AS, Row


@dataclass(frozen=True)
class Choice:
    """What was chosen for a row on a set, and the figure of every value that was tried."""

    row: str
    data: str
    tuned_on: str
    figure: str
    parameter: str
    value: Any
    tried: Mapping[Any, float]

    def sentence(self) -> str:
        """For the notes of a page."""
        tried = ", ".join(f"{value:g}: {100 * figure:.2f}" for value, figure in self.tried.items())
        where = self.data if self.data == self.tuned_on else f"{self.data}, on {self.tuned_on}"
        at_edge = ", at the edge of what was tried" if self.is_at_edge else ""
        return f"{where}, {self.row}: `{self.parameter}={self.value:g}`{at_edge} ({self.figure} by value: {tried})"

    @property
    def is_at_edge(self) -> bool:
        """Whether a smaller or a larger value than those tried may be better; of two values both are at the edge."""
        return len(self.tried) > 2 and self.value in (min(self.tried), max(self.tried))


@dataclass
class Tuner:
    """Chooses parameters, one after the other, with one seed; runs that it needs are kept as all others are.

    With `only_plan` nothing is run. Where runs are missing, the best value of those that are there, or the first,
    stands for the best: `waiting` has these runs.
    """

    series: Series
    threads: int
    n_rows: int | None
    only_plan: bool = False
    choices: dict[tuple[str, str], list[Choice]] = field(default_factory=dict)
    missing: dict[tuple[str, str], list[Run]] = field(default_factory=dict)

    def chosen(self, row: Row, data: str) -> dict[str, Any]:
        """The parameters of a row that are tuned, with their best values on a set."""
        found = []
        if row.c_is_tuned:
            found += self._choices(_with_c(row), data)
        if row.tune:
            fixed = {choice.parameter: choice.value for choice in found}
            found += self._choices(row, data, fixed)
        return {choice.parameter: choice.value for choice in found}

    def waiting(self, row: Row, data: str) -> list[Run]:
        """The runs that are not there, without which the parameters of a row are not chosen."""
        self.chosen(row, data)
        names = [_with_c(row).name] if row.c_is_tuned else []
        return [run for name in [*names, row.name] for run in self.missing.get((name, data), [])]

    def sentences(self, rows: Sequence[Row], data: str) -> list[str]:
        """What was chosen for these rows, each choice once; nothing where runs are missing."""
        names = dict.fromkeys(
            name for row in rows for name in ([_with_c(row).name] if row.c_is_tuned else []) + [row.name]
        )
        chosen = [name for name in names if not self.missing.get((name, data))]
        return [choice.sentence() for name in chosen for choice in self.choices.get((name, data), [])]

    def _choices(self, row: Row, data: str, fixed: Mapping[str, Any] | None = None) -> list[Choice]:
        key = row.name, data
        if key not in self.choices:
            self.choices[key] = list(self._tune(row, data, fixed or {}))
        return self.choices[key]

    def _tune(self, row: Row, data: str, fixed: Mapping[str, Any]) -> list[Choice]:
        tuned_on = TUNED_AS.get(data, data)
        parameters = {**row.all_parameters(), **fixed}
        parameters |= {name: values[0] for name, values in row.tune.items()}
        found = []
        for name, values in row.tune.items():
            runs = {value: self._run(row, tuned_on, {**parameters, name: value}) for value in values}
            figures = self._figures(runs, row.tune_for)
            self.missing.setdefault((row.name, data), []).extend(
                run for run in runs.values() if self.series.store.record(run) is None
            )
            if figures:
                parameters[name] = max(figures, key=lambda value: figures[value])
            found.append(Choice(row.name, data, tuned_on, row.tune_for, name, parameters[name], figures))
        return found

    def _figures(self, runs: Mapping[Any, Run], figure: str) -> dict[Any, float]:
        if not self.only_plan:
            self.series.finish(runs.values())
        kept = {value: self.series.store.find(run) for value, run in runs.items()}
        return {value: figures[figure] for value, figures in kept.items() if figures is not None}

    def _run(self, row: Row, data: str, parameters: Mapping[str, Any]) -> Run:
        return Run(
            row.system,
            data,
            dict(parameters),
            0,
            self.threads,
            features=row.features,
            n_rows=self.n_rows,
            sample_weight=row.sample_weight,
            part="dev",
        )


def _with_c(row: Row) -> Row:
    """The baseline of a class and a loss with words, which C is chosen with for all rows."""
    loss = row.all_parameters().get("loss")
    name = f"{loss.replace('_', ' ')} loss" if loss else "softmax"
    parameters = {"loss": loss} if row.system == TREES else {}
    dense = "" if row.features == "words" else f", {row.features}"
    return Row(
        name + dense, parameters, row.features, system=SOFTMAX if not loss else TREES, tune={"C": C_GRID}
    )

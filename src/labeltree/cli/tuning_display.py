"""The progress of a search for parameters, on a terminal; and its result."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from labeltree.cli.figures import bytes_text, seconds_text
from labeltree.tuning import Trial, Tuning
from labeltree.tuning.space import SEARCHED, TEXT_SEARCHED
from labeltree.wording import count_text

_SHOWN_TRIALS = 8
_CHOSEN, _START = "→", "·"
#: The table of trials on texts has many columns.
_SHORT_HEADS = {
    "max_leaves": "leaves",
    "n_trees": "trees",
    "ngram_range": "ngrams",
    "min_df": "df",
    "sublinear_tf": "log tf",
    "max_features": "features",
    "char_ngram_range": "chars",
}
#: Long lines of a table are better than cells that are cut.
WIDTH = 110


class TuningDisplay:
    """Shows the time and the best trials on the most rows so far, if standard error is a terminal."""

    def __init__(self, budget: float, metric: str, started: float) -> None:
        self._budget = budget
        self._metric = metric
        self._started = started
        self._trials: list[Trial] = []

    def opened(self) -> AbstractContextManager[object]:
        """Return a context in which trials are shown."""
        if sys.stderr is None or not sys.stderr.isatty():
            return nullcontext()
        # It redraws itself four times a second: the time passes during a trial.
        return Live(self, console=Console(stderr=True), transient=True, refresh_per_second=4)

    def show(self, trial: Trial) -> None:
        """Show a finished trial."""
        self._trials = [*self._trials, trial]

    def __rich__(self) -> Group:
        passed = time.monotonic() - self._started
        trials = self._trials
        head = Table.grid(padding=(0, 2))
        head.add_row(
            ProgressBar(total=self._budget, completed=min(passed, self._budget), width=30),
            f"{seconds_text(passed)} of {seconds_text(self._budget)}",
            count_text(len(trials), "trial"),
        )
        if not trials:
            return Group(head)
        most = max(trial.n_rows for trial in trials)
        best = sorted((trial for trial in trials if trial.n_rows == most), key=lambda trial: -trial.score)
        names = _columns(trials)
        table = _table(self._metric, names)
        for trial in best[:_SHOWN_TRIALS]:
            table.add_row("", *_cells(trial, names))
        return Group(head, Text(f"The best on {most:,} rows so far:"), table)


def summary(found: Tuning, seconds: float) -> str:
    """Return the number of trials and rows, and a title for the table."""
    return (
        f"{count_text(len(found.trials), 'trial')} in {seconds_text(seconds)}, measured on "
        f"{count_text(found.n_valid_rows, 'row')}.\n"
        f"Trials on {count_text(found.chosen.n_rows, 'row')} that no other beats in {found.metric}, time and size "
        "at once:\n"
    )


def front_table(found: Tuning) -> Group:
    """Return the Pareto front, with the chosen trial and the one that the search started from."""
    marked = {_CHOSEN: found.chosen, _START: found.start}
    front = found.front
    shown = [
        trial for trial in found.finalists if trial in front or any(trial is one for one in marked.values())
    ]
    shown.sort(key=lambda trial: -trial.score)
    names = _columns(shown)
    table = _table(found.metric, names)
    for trial in shown:
        marks = "".join(mark for mark, which in marked.items() if trial is which)
        table.add_row(marks, *_cells(trial, names), style="bold" if _CHOSEN in marks else "")
    legend = (
        f"\n{_CHOSEN} chosen: the smallest of those as precise as the best, within the error of measurement, and not "
        "worse than the start"
    )
    if found.start is not None:
        legend += f"\n{_START} start of the search"
    if same := [name for name in found.chosen.parameters if name not in names]:
        legend += f"\nall: {parameters_text({name: found.chosen.parameters[name] for name in same})}"
    return Group(table, Text(legend))


def parameters_text(parameters: dict[str, Any]) -> str:
    """Return parameters in one line.

    Examples
    --------
    >>> parameters_text({"C": 0.5, "ngram_range": (1, 2), "max_features": None})
    'C 0.5, ngram_range 1-2, max_features none'
    """
    return ", ".join(f"{name} {_cell(value)}" for name, value in parameters.items())


def _columns(trials: list[Trial]) -> list[str]:
    """Return the parameters to show. Trials on texts have many: only those that differ."""
    names = [*SEARCHED, *(name for name in TEXT_SEARCHED if name in trials[0].parameters)]
    if len(names) == len(SEARCHED):
        return names
    return [name for name in names if any(t.parameters[name] != trials[0].parameters[name] for t in trials)]


def _table(metric: str, names: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("", min_width=2)
    heads = _SHORT_HEADS if set(names) != {*SEARCHED} else {}
    for head in (metric, "ms/row", "size", *(heads.get(name, name) for name in names)):
        table.add_column(head, justify="left" if head == "loss" else "right", no_wrap=True)
    return table


def _cells(trial: Trial, names: list[str]) -> list[str]:
    return [
        f"{100 * trial.score:.2f}",
        f"{trial.ms_per_row:.4f}",
        bytes_text(trial.model_bytes),
        *(_cell(trial.parameters[name]) for name in names),
    ]


def _cell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "-".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

"""A table as a Markdown page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.table import number

from experiments.runner.claims import LEAST, LEAST_OF_FEW_RUNS, claims_table
from experiments.runner.figures import NOT_RUN, PROCESSOR_COSTS, Line, Mean, Quality
from experiments.runner.growth import growth
from experiments.runner.table import BASELINE, BASELINE_C, BASELINE_LINK, BASELINE_OF_DESCENT, Table

_ABOUT_CLAIMS = (
    "Differences of the first row that a claim names less the second, in points, computed from the tables "
    f"below. *Holds*: a difference is one of twice its standard error, or of {LEAST_OF_FEW_RUNS} points of one "
    f"or two runs; rows are as precise if they differ by less than {LEAST} points or less than that. *No*, for "
    "a difference, is the opposite."
)
_ABOUT_CHOICES = (
    "Every tenth training row was held out, and no test row was looked at. One seed; one parameter after "
    "the other."
)
_TIMES = (
    "Times are processor time, of all threads together. Other programs may have run beside: trust differences from a "
    "third upwards, and ratios (×, to the first row that ran) more than seconds. Prediction is of all test rows at "
    "once unless the batch is given."
)
_SPLIT = (
    "`bibtex` (159 labels) and `delicious` (983) have no split of their own: every fifth row is tested on."
)


def head(table: Table) -> list[str]:
    """What a page says before its figures."""
    lines = [f"# {table.title}", "", f"**In the paper:** {table.paper}", ""]
    lines += [f"**Here:** {table.here}", ""] if table.here else []
    return [*lines, f"![{table.title}]({table.name}.png)", ""]


def page(
    table: Table,
    parts: Mapping[str, Sequence[Line]],
    circumstances: Sequence[str],
    choices: Sequence[str] = (),
) -> str:
    """The page of a table.

    `parts` has its lines by data set, `choices` the parameters that were tuned; `circumstances` say how it was made.
    """
    lines = head(table)
    if said := claims_table(table.claims, parts):
        lines += ["## What the figures say", "", *said, "", _ABOUT_CLAIMS, ""]
    for data, rows in parts.items():
        if all(line.failure == NOT_RUN for line in rows):
            lines += [f"## {data}", "", "Not run yet.", ""]
            continue
        lines += [f"## {data}", "", *table_of(rows, table.qualities, table.costs), ""]
        if table.batch_sizes:
            lines += ["Prediction in milliseconds per row, by rows in a batch:", ""]
            lines += [*_batches(rows, table.batch_sizes), ""]
        if failed := [line for line in rows if line.failure not in ("", NOT_RUN)]:
            lines += [*(f"- {line.name}: not here, because: {line.failure}" for line in failed), ""]
    lines += growth(table, parts)
    if choices:
        lines += [
            "## Chosen on development rows",
            "",
            _ABOUT_CHOICES,
            "",
            *(f"- {one}" for one in choices),
            "",
        ]
    lines += [
        "## Notes",
        "",
        *(f"- {note}" for note in [*table.notes, *_usual_notes(table, circumstances)]),
        "",
    ]
    return "\n".join(lines)


def headings(qualities: Mapping[str, Quality], costs: Mapping[str, str] = PROCESSOR_COSTS) -> list[str]:
    """The columns: every cost is followed by its ratio to that of the first row."""
    pairs = [heading for cost in costs.values() for heading in (cost, "×")]
    return ["", *qualities, *pairs, "runs"]


def table_of(
    rows: Sequence[Line], qualities: Mapping[str, Quality], cost_names: Mapping[str, str] = PROCESSOR_COSTS
) -> list[str]:
    """The lines of a table of Markdown."""
    ran = [line for line in rows if line.n_runs]
    best = {
        name: quality.best(line.means[name].value for line in ran)
        for name, quality in qualities.items()
        if quality.best is not None and ran
    }
    columns = headings(qualities, cost_names)
    text = [line_of(columns), line_of(["---"] * len(columns))]
    for line in rows:
        if not line.n_runs:
            first = NOT_RUN if line.failure == NOT_RUN else "–"
            text.append(line_of([line.name, first] + ["–"] * (len(columns) - 2)))
            continue
        cells = []
        for name, quality in qualities.items():
            mean = line.means[name]
            shown = scaled(mean, quality.scale)
            cells.append(f"**{shown}**" if mean.value == best.get(name) else shown)
        costs = [
            cell
            for cost in cost_names
            for cell in (plus_minus(line.means[cost]), times(line.ratios.get(cost)))
        ]
        text.append(line_of([line.name, *cells, *costs, str(line.n_runs)]))
    return text


def _batches(rows: Sequence[Line], sizes: Sequence[int]) -> list[str]:
    text = [line_of(["", *(f"{size:,}" for size in sizes)]), line_of(["---"] * (len(sizes) + 1))]
    for line in rows:
        if line.n_runs:
            text.append(line_of([line.name, *(plus_minus(line.means[f"batch_{size}_ms"]) for size in sizes)]))
    return text


def scaled(mean: Mean, scale: float) -> str:
    """A figure times something, in two decimals."""
    return f"{scale * mean.value:.2f}" + ("" if mean.error is None else f" ± {scale * mean.error:.2f}")


def per_cent(mean: Mean) -> str:
    """A share of 1 in per cent."""
    return scaled(mean, 100)


def plus_minus(mean: Mean) -> str:
    """A cost in about three digits, its error in as many decimals."""
    shown = number(mean.value)
    if mean.error is None:
        return shown
    return f"{shown} ± {mean.error:.{len(shown.partition('.')[2])}f}"


def times(ratio: float | None) -> str:
    """A ratio in two digits."""
    if ratio is None:
        return "–"
    return f"{ratio:.{0 if ratio >= 10 else 1 if ratio >= 1 else 2}f}"


def _usual_notes(table: Table, circumstances: Sequence[str]) -> list[str]:
    baseline = (
        f"Where a row says nothing else: {_settings(BASELINE)}; in batch training {_settings(BASELINE_OF_DESCENT)} and "
        f"{_by_loss('C', BASELINE_C)} unless C is chosen; {_by_loss('link', BASELINE_LINK)}. All else is at its "
        "default."
    )
    return [
        *([baseline] if any(row.has_baseline for row in table.rows) else []),
        "Means ± standard errors over runs with different seeds. In bold: the best.",
        *([_TIMES] if {"train_cpu_s", "batch_cpu_ms"} & {*table.costs} else []),
        *([_SPLIT] if {"bibtex", "delicious"} & {*table.sets} else []),
        *circumstances,
    ]


def _settings(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={value!r}`" for name, value in parameters.items())


def _by_loss(name: str, values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={value!r}` ({loss.replace('_', ' ')})" for loss, value in values.items())


def line_of(columns: Sequence[str]) -> str:
    """A line of a table of Markdown."""
    return "| " + " | ".join(columns) + " |"

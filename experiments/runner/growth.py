"""How times grow with the number of labels: a line per row that is run on large sets, a column per set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.table import number

from experiments.runner.figures import Line
from experiments.runner.table import Table

#: Labels of the sets, the fewest first.
LABELS = {
    "bibtex": 159,
    "delicious": 983,
    "eurlex57k": 4_108,
    "tate": 15_803,
    "extreme-131k": 131_000,
    "extreme-670k": 670_000,
    "extreme-3m": 3_000_000,
}

_ABOUT = "{costs}, by set with its number of labels. Sets differ in rows and words too."


def growth(table: Table, parts: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """The lines of a table of Markdown; nothing unless a row was run on a large set and on another one."""
    costs = [cost for cost in table.costs if cost != "model_mb"]
    by_set = {data: _lines(parts[data], costs) for data in LABELS if data in parts}
    names = dict.fromkeys(name for data in table.large for name in by_set.get(data, {}))
    shown = [name for name in names if sum(name in lines for lines in by_set.values()) > 1]
    sets = [data for data, lines in by_set.items() if any(name in lines for name in shown)]
    if not shown:
        return
    told = " / ".join(table.costs[cost] for cost in costs)
    yield from ("## How times grow", "", _ABOUT.format(costs=told[0].upper() + told[1:]), "")
    yield _row(["row", *(f"{data}, {LABELS[data]:,}" for data in sets)])
    yield _row(["---"] * (len(sets) + 1))
    for name in shown:
        yield _row([name, *(_cell(by_set[data].get(name), costs) for data in sets)])
    yield ""


def _lines(lines: Sequence[Line], costs: Sequence[str]) -> dict[str, Line]:
    return {line.name: line for line in lines if all(cost in line.means for cost in costs)}


def _cell(line: Line | None, costs: Sequence[str]) -> str:
    return "–" if line is None else " / ".join(number(line.means[cost].value) for cost in costs)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"

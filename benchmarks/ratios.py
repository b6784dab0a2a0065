"""One table over several data sets: how we compare with the best of all other systems in each figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console

from benchmarks.summary import Row
from benchmarks.table import markdown_cells, number, show_cells

TITLE = "Ours beside the best other system"

#: The costs that are compared, with their headings.
COSTS = {
    "total_s": "load, train and save",
    "single_p50_ms": "one row p50",
    "batch_ms": "first batch",
    "later_batch_ms": "second batch",
    "model_mb": "model",
    "memory_mb": "memory",
}

QUALITIES = ("P@1", "P@5")

NOTES = (
    "Each cell: the figure of the best other system divided by ours, and its name. 10× means that we need a tenth. "
    "Total is loading, training and saving; the first batch reads the model from disk; memory is the peak of training.",
    "P@1 and P@5: our per cent, and the difference to the most precise other system in points.",
    "p99: ours as a multiple of our p50, of single rows.",
)


@dataclass(frozen=True)
class Comparison:
    """Ours with some number of trees on one data set, beside the best other system in each figure.

    `costs` has the ratio, other / ours, and the name of the other system; `qualities` our value, the difference in
    points, and the name.
    """

    data: str
    n_rows: int
    n_labels: int
    n_trees: int
    costs: dict[str, tuple[float, str]]
    qualities: dict[str, tuple[float, float, str]]
    p99: float


def compare(data: str, n_rows: int, n_labels: int, rows: Sequence[Row]) -> list[Comparison]:
    """A comparison for each number of trees with which ours is complete; a system without ensembles is one tree."""
    found = []
    for ours in rows:
        if not ours.ours or not ours.complete:
            continue
        others = [row for row in rows if not row.ours and row.complete and row.n_trees == ours.n_trees]
        own = {name: spread.median for name, spread in ours.figures.items()}
        costs, qualities = {}, {}
        for name in COSTS:
            if name in own and (best := _best(others, name, min)):
                costs[name] = (best[0] / own[name], best[1])
        for name in QUALITIES:
            if best := _best(others, name, max):
                qualities[name] = (100 * own[name], 100 * (own[name] - best[0]), best[1])
        p99 = own["single_p99_ms"] / own["single_p50_ms"]
        found.append(Comparison(data, n_rows, n_labels, ours.n_trees, costs, qualities, p99))
    return found


def show_comparisons(comparisons: Sequence[Comparison], console: Console) -> None:
    show_cells(TITLE, _headings(), _cells(comparisons), NOTES, console)


def markdown_of(comparisons: Sequence[Comparison]) -> str:
    return markdown_cells(TITLE, _headings(), _cells(comparisons), NOTES)


def _best(
    rows: Iterable[Row], name: str, choose: Callable[[Iterable[tuple[float, str]]], tuple[float, str]]
) -> tuple[float, str] | None:
    """The best figure of some systems and the name of its system; None if no system has it."""
    known = [(row.figures[name].median, row.system) for row in rows if name in row.figures]
    return choose(known) if known else None


def _headings() -> list[str]:
    return ["set", "rows", "labels", "trees", *COSTS.values(), "p99", *QUALITIES]


def _cells(comparisons: Sequence[Comparison]) -> Iterable[list[list[str]]]:
    for one in comparisons:
        costs = [one.costs.get(name) for name in COSTS]
        qualities = [one.qualities.get(name) for name in QUALITIES]
        yield [
            [one.data],
            [f"{one.n_rows:,}"],
            [f"{one.n_labels:,}"],
            [str(one.n_trees)],
            *(["–"] if cost is None else [f"{number(cost[0])}×", cost[1]] for cost in costs),
            [f"{one.p99:.1f}×"],
            *(["–"] if q is None else [f"{q[0]:.2f}", f"{q[1]:+.2f}", q[2]] for q in qualities),
        ]

"""The figures as one table: on the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

from benchmarks.peers import PEERS
from benchmarks.summary import COSTS, QUALITIES, STAGE_TIMES, Row, Spread, is_time

LEGEND = (
    "Total: load, train and save; cpu: the same as the time of all threads together (not of child processes), "
    "which other work on the machine changes less. Training includes the tree. Memory is the peak of the "
    "process that trains, with its children's. Opening is loading from disk in a fresh process, without "
    "imports. A single row is asked through the Python API, in the form that it takes. Not known: –."
)


def number(value: float) -> str:
    """Three digits that tell something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


def ratio(spread: Spread) -> str:
    """How many times ours, in two digits."""
    digits = 0 if spread.median >= 10 else 1 if spread.median >= 1 else 2
    return f"{'> ' if spread.at_least else ''}{spread.median:,.{digits}f}×"


def cost_lines(row: Row, name: str) -> list[str]:
    """What a cell says of a cost: the median, of times the spread, and the ratio unless it is ours."""
    figure = row.figures.get(name)
    if figure is None:
        if name not in STAGE_TIMES.get(row.incomplete, ()):
            return ["–"]
        return ["failed" if row.failure else f"> {number(row.limit_s)} s in all"]
    lines = [f"{'> ' if figure.at_least else ''}{number(figure.median)}"]
    if row.n_runs > 1 and is_time(name) and not figure.at_least:
        lines.append(f"{number(figure.low)}–{number(figure.high)}")
    if name in row.ratios:
        lines.append(ratio(row.ratios[name]))
    return lines


def quality_lines(row: Row, name: str, ours: Row | None) -> list[str]:
    """What a cell says of a quality: per cent, and the difference to ours in points."""
    figure = row.figures.get(name)
    if figure is None:
        return ["–"]
    lines = [f"{100 * figure.median:.2f}"]
    if ours is not None and not row.ours and name in ours.figures:
        lines.append(f"{100 * (figure.median - ours.figures[name].median):+.2f}")
    return lines


def headings() -> list[str]:
    return ["system", "trees", *COSTS.values(), *QUALITIES]


def cells(rows: Sequence[Row]) -> Iterable[list[list[str]]]:
    """Per row, the lines of every cell."""
    ours = {row.n_trees: row for row in rows if row.ours}
    for row in rows:
        trees = str(row.n_trees) if PEERS[row.system].ensembles else "–"
        yield [
            [row.name],
            [trees],
            *(cost_lines(row, name) for name in COSTS),
            *(quality_lines(row, name, ours.get(row.n_trees)) for name in QUALITIES),
        ]


def notes(rows: Sequence[Row]) -> list[str]:
    """What must be known to read the table, then why systems failed."""
    repeated = max((row.n_runs for row in rows), default=1)
    shown = f"Medians of {repeated} runs, of times the range" if repeated > 1 else "Figures of one run"
    compared = "and how many times ours with as many trees (of qualities, the difference in points)"
    told = [f"{shown}, {compared}. {LEGEND}"]
    for system in dict.fromkeys(row.system for row in rows):
        if PEERS[system].note:
            told.append(f"{system}: {PEERS[system].note}.")
    for row in rows:
        after = f" after {row.n_runs} run(s)" if row.complete else ""
        if row.failure:
            told.append(f"{row.name}, {row.n_trees} tree(s), failed{after}. {row.failure}")
        elif row.stopped:
            told.append(
                f"{row.name}, {row.n_trees} tree(s): stopped{after} in {row.stopped} after {number(row.limit_s)} s."
            )
    return told


def show(rows: Sequence[Row], title: str, console: Console) -> None:
    """Print the table, what must be known to read it, and the reasons of failures."""
    show_cells(title, headings(), cells(rows), notes(rows), console)


def show_cells(
    title: str,
    headings: Sequence[str],
    cells: Iterable[Sequence[Sequence[str]]],
    notes: Iterable[str],
    console: Console,
) -> None:
    """Print a table whose cells have lines, and notes below it."""
    table = Table(title=title, show_lines=True)
    for heading in headings:
        # Words of a heading one below the other, so that columns are as narrow as their numbers.
        stacked = heading.replace(" ", "\n")
        table.add_column(stacked, justify="left" if heading == "system" else "right", no_wrap=True)
    for row in cells:
        table.add_row(*("\n".join(lines) for lines in row))
    console.print(table)
    for note in notes:
        console.print(note, style="dim", highlight=False, markup=False)


def markdown(rows: Sequence[Row], title: str) -> str:
    """The table for a document."""
    return markdown_cells(title, headings(), cells(rows), notes(rows))


def markdown_cells(
    title: str,
    headings: Sequence[str],
    cells: Iterable[Sequence[Sequence[str]]],
    notes: Iterable[str],
) -> str:
    lines = [f"## {title}", "", _line(headings), _line(["---"] * len(headings))]
    lines += [_line([" / ".join(cell) for cell in row]) for row in cells]
    lines += ["", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines)


def _line(columns: Sequence[str]) -> str:
    return "| " + " | ".join(columns) + " |"

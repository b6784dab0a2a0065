"""The figures of pages, read from their tables: what the summary is made of."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiments.runner.figures import QUALITIES, Line, Mean
from experiments.runner.sources import ROOT
from experiments.runner.stamp import Stamp

_CELL = re.compile(r"([\d,.]+)(?: ± ([\d.]+))?")

#: Above the figures of sets whose rows the present script has not all run yet, at the end of a page.
OLDER = "## Older figures"

_ABOUT_OLDER = (
    "Of an earlier version of this script, with one to three seeds and with parameters that were not tuned, or on "
    "test rows; times are by the clock, but for columns of CPU time. Do not compare them with the figures above. The "
    "present script has not run all rows of these sets yet."
)

#: By table, row, figure and data set, as the paper prints them.
PaperFigures = dict[str, dict[str, dict[str, dict[str, float]]]]


def read_page(path: Path) -> dict[str, list[Line]]:
    """The lines of a page by data set, with the figures that are in per cent as shares of 1; without older ones."""
    parts: dict[str, list[Line]] = {}
    columns: list[str] = []
    data = ""
    for text in path.read_text().partition(OLDER)[0].splitlines():
        cells = [cell.strip() for cell in text.strip("|").split(" | ")] if text.startswith("|") else []
        if text.startswith("## "):
            data, columns = text[3:], []
        elif cells and not cells[0] and cells[-1] == "runs":
            columns = cells
            parts[data] = []
        elif not cells:
            columns = []
        elif columns and len(cells) == len(columns) and cells[-1].isdigit():
            parts[data].append(_line(columns, cells))
    return parts


def older_figures(path: Path, incomplete: Iterable[str]) -> list[str]:
    """The end of a page that is written anew: what an earlier version of the script found on incomplete sets.

    Pages of these versions have no stamp.
    """
    if not path.exists():
        return []
    now, _, before = path.read_text().partition(OLDER)
    sections = _sections(now, "## ") if Stamp.read(path) is None else _sections(before, "### ")
    kept = [
        line for data in incomplete if data in sections for line in (f"### {data}", "", sections[data], "")
    ]
    return [OLDER, "", _ABOUT_OLDER, "", *kept] if kept else []


def _sections(text: str, mark: str) -> dict[str, str]:
    """The parts of a page that have tables, by their headings."""
    parts = (part.partition("\n") for part in f"\n{text}".split(f"\n{mark}")[1:])
    return {heading: body.strip() for heading, _, body in parts if "| --- |" in body}


def _line(columns: list[str], cells: list[str]) -> Line:
    means = {}
    for column, cell in zip(columns[1:-1], cells[1:-1], strict=True):
        found = _CELL.fullmatch(cell.strip("*"))
        if found and column != "×":
            scale = 0.01 if column in QUALITIES or column == "micro-F1" else 1.0
            value, error = found.groups()
            means[column] = Mean(
                scale * float(value.replace(",", "")), None if error is None else scale * _unrounded(error)
            )
    return Line(cells[0], int(cells[-1]), means)


def _unrounded(error: str) -> float:
    """An error that is shown as 0.00 may be up to 0.005, and is not to make each difference a clear one."""
    return max(float(error), 0.5 * 10.0 ** -len(error.partition(".")[2]))


def read_paper() -> PaperFigures:
    """What the paper prints, from `experiments/paper.csv`."""
    found: PaperFigures = {}
    with open(ROOT / "experiments" / "paper.csv", newline="") as file:
        for row in csv.DictReader(file):
            of_row = found.setdefault(row["table"], {}).setdefault(row["row"], {})
            of_row.setdefault(row["figure"], {})[row["data"]] = float(row["value"])
    return found


def paper_differences(
    paper: Mapping[str, Mapping[str, Mapping[str, float]]], first: str, second: str, figure: str
) -> dict[str, float]:
    """The points between two rows of the paper, by its data sets."""
    one, other = (paper.get(row, {}).get(figure, {}) for row in (first, second))
    return {data: one[data] - other[data] for data in one if data in other}

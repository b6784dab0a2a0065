"""The figures as a picture: how many times ours every cost of a peer is, and what precision it buys.

python -m benchmarks.picture results.json results.png
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.peers import OURS, PEERS
from benchmarks.summary import Row
from benchmarks.table import ratio

#: The panels of ratios, in reading order.
PANELS = {
    "total_s": "load, train and save",
    "memory_mb": "peak memory of training",
    "model_mb": "model on disk",
    "open_ms": "opening the model",
    "batch_ms": "batch prediction, per row",
    "single_p50_ms": "one row, median",
    "single_p99_ms": "one row, 99th percentile",
}

#: Colours that people with any kind of sight tell apart (after Okabe and Ito), ours the strongest.
COLOURS = {
    OURS: "#D55E00",
    "omikuji": "#0072B2",
    "napkinxc": "#009E73",
    "napkinxc-hsm": "#66C2A5",
    "napkinxc-br": "#005C42",
    "pecos": "#CC79A7",
    "vowpalwabbit": "#A98600",
    "fasttext-hs": "#56B4E9",
    "fasttext-ova": "#3A6EA5",
    "extremetext": "#7A4FA3",
    "sklearn": "#555555",
}

CAPTION = (
    "Dots are medians, as multiples of ours with as many trees (the line): to the right of it ours is better. Bars are "
    "the widest range that the runs allow;\narrows, runs that were stopped. Filled: one tree, or a system without "
    "ensembles. Hollow: several trees."
)

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E2E2E2",
    "grid.linewidth": 0.7,
}


def check_matplotlib() -> None:
    """Raise `SystemExit` where there is no matplotlib; the dependency group `bench` has it."""
    if find_spec("matplotlib") is None:
        raise SystemExit("the picture needs matplotlib: `pip install matplotlib`, or use `make bench`")


def draw(rows: Sequence[Row], title: str, path: Path) -> None:
    """Write the picture as a PNG file."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    systems = list(dict.fromkeys(row.system for row in rows if not row.ours))
    with mpl.rc_context(_STYLE):
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = Figure(figsize=(15, 3.4 + 0.85 * max(3, len(systems))), layout=layout)
        figure.suptitle(f"labeltree and its peers: {title}", fontsize=15, fontweight="bold")
        axes = figure.subplots(2, 4)
        for panel, (name, heading) in enumerate(PANELS.items()):
            axis = axes.flat[panel]
            _draw_ratios(axis, rows, systems, name)
            axis.set_title(heading)
            axis.set_yticks(range(len(systems)), systems if panel % 4 == 0 else [""] * len(systems))
            for tick, system in zip(axis.get_yticklabels(), systems, strict=True):
                tick.set(color=COLOURS[system], fontweight="bold", fontsize=10)
        _draw_precision(axes.flat[-1], rows)
        figure.supxlabel(CAPTION, fontsize=9, color="#555555")
        figure.savefig(path, dpi=150)


def _draw_ratios(axis: Any, rows: Sequence[Row], systems: Sequence[str], name: str) -> None:
    """A line per peer, its ratios to ours on a logarithmic axis."""
    fewest = min((row.n_trees for row in rows), default=1)
    axis.set_xscale("log")
    axis.axvline(1, color=COLOURS[OURS], linewidth=2, zorder=1)
    for row in rows:
        shown = row.ratios.get(name)
        if shown is None or shown.median <= 0:
            continue
        several = row.n_trees > fewest
        height = systems.index(row.system) + (0.2 if several else -0.2) * PEERS[row.system].ensembles
        colour = COLOURS[row.system]
        axis.hlines(height, shown.low, shown.high, color=colour, linewidth=3, alpha=0.35, zorder=2)
        _mark(axis, shown.median, height, colour, hollow=several, marker=">" if shown.at_least else "o")
        axis.annotate(
            ratio(shown),
            (max(shown.high, shown.median), height),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )
    axis.set_ylim(len(systems) - 0.4, -0.6)
    axis.grid(axis="x")
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)
    low, high = axis.get_xlim()
    # The line is always seen, and there is room for the last number.
    axis.set_xlim(min(low, 0.7), max(high, 1.5) * (max(high, 1.5) / min(low, 0.7)) ** 0.2)
    _number_powers(axis, "×")


def _draw_precision(axis: Any, rows: Sequence[Row]) -> None:
    """What precision the time of training buys; the systems in the colours of their names."""
    fewest = min((row.n_trees for row in rows), default=1)
    axis.set_xscale("log")
    for system in dict.fromkeys(row.system for row in rows):
        measured = [row for row in rows if row.system == system and "P@1" in row.figures]
        seconds = [row.figures["total_s"].median for row in measured]
        precision = [100 * row.figures["P@1"].median for row in measured]
        axis.plot(seconds, precision, color=COLOURS[system], linewidth=1, alpha=0.5, zorder=2)
        for row, x, y in zip(measured, seconds, precision, strict=True):
            _mark(axis, x, y, COLOURS[system], hollow=row.n_trees > fewest)
        if system == OURS and measured:
            axis.annotate(
                OURS,
                (seconds[0], precision[0]),
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                fontweight="bold",
                color=COLOURS[OURS],
            )
    axis.set_title("P@1 and seconds in all")
    axis.margins(0.18)
    axis.grid()
    _number_powers(axis, " s")


def _mark(axis: Any, x: float, y: float, colour: str, *, hollow: bool, marker: str = "o") -> None:
    axis.plot(
        x,
        y,
        marker=marker,
        markersize=7,
        markerfacecolor="white" if hollow else colour,
        markeredgecolor=colour,
        markeredgewidth=1.6,
        zorder=3,
    )


def _number_powers(axis: Any, unit: str) -> None:
    """Plain numbers at a few powers of ten, or at 1, 2 and 5 times these where the axis is short."""
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    low, high = axis.get_xlim()
    short = high / low < 100
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,), numticks=6))
    axis.xaxis.set_major_formatter(
        lambda value, _: f"{value / 1000:g}k{unit}" if value >= 1000 else f"{value:g}{unit}"
    )
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_minor_formatter(NullFormatter())


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the picture of a results.json again."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.picture", description=main.__doc__)
    parser.add_argument("results", type=Path, help="a results.json")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    options = parser.parse_args(arguments)
    document = json.loads(options.results.read_text())
    draw([Row.from_json(row) for row in document["rows"]], document["title"], options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Memory and time of trainings with and without a limit, against the number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

#: The panels: the figure, what it is divided by, and the text of its axis.
PANELS = {"own_mb": (1000, "anonymous and shared memory, GB"), "cpu": (60, "CPU time, minutes")}


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw the runs without a limit, and those with the smallest limit for each number of labels."""
    free = [row for row in rows if row["limit"] is None]
    least: dict[int, dict[str, Any]] = {}
    for row in rows:
        n_labels, limit = row["n_labels"], row["limit"]
        if limit is not None and limit < least.get(n_labels, {"limit": limit + 1})["limit"]:
            least[n_labels] = row
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, (name, (unit, text)) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        draw_curve(axes, free, name, unit, "no limit")
        draw_curve(axes, list(least.values()), name, unit, "with memory_gb")
        axes.set(xscale="log", yscale="log", xlabel="labels", ylabel=text)
        axes.margins(0.15)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
            axis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.3)
    figure.axes[1].legend()
    for row in least.values():
        at = row["n_labels"], row["own_mb"] / 1000
        figure.axes[0].annotate(
            f"limit {row['limit']:g} GB", at, (-6, 6), textcoords="offset points", ha="right", fontsize=8
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def draw_curve(axes: Axes, rows: Sequence[dict[str, Any]], name: str, unit: float, label: str) -> None:
    """Draw one curve; a run that the system stopped for lack of memory ends it."""
    rows = sorted(rows, key=lambda row: int(row["n_labels"]))
    n_labels, values = [row["n_labels"] for row in rows], [row[name] / unit for row in rows]
    (curve,) = axes.plot(n_labels, values, marker="o", label=label)
    for row, n, value in zip(rows, n_labels, values, strict=True):
        if row["stopped"]:
            axes.annotate(
                "stopped: no memory left",
                (n, value),
                (-6, 6),
                textcoords="offset points",
                ha="right",
                fontsize=8,
                color=curve.get_color(),
            )

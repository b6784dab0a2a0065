"""A table as a picture: dots with standard errors, a line of panels per data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.picture import check_matplotlib

from experiments.runner.figures import Line, Quality
from experiments.runner.table import Table

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#A98600", "#56B4E9", "#555555", "#8E5FBF")

#: Between two that are drawn.
_LEFT_OUT = "P@3"

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#E2E2E2",
    "grid.linewidth": 0.7,
}


def draw(table: Table, parts: Mapping[str, Sequence[Line]], path: Path) -> None:
    """Write the picture as a PNG file; rows that did not run are left out."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = {data: [line for line in lines if line.n_runs] for data, lines in parts.items()}
    shown = {data: lines for data, lines in shown.items() if lines}
    if not shown:
        return
    panels = {name: quality for name, quality in table.qualities.items() if name != _LEFT_OUT}
    headings = {name: f"{name}, %" if quality.scale == 100 else name for name, quality in panels.items()}
    headings |= table.costs
    n_columns = len(headings)
    heights = [0.9 + 0.24 * max(3, len(lines)) for lines in shown.values()]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.2 * n_columns + 1.8, sum(heights) + 0.5), layout="constrained")
        figure.suptitle(table.title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        axes = figure.subplots(len(shown), n_columns, squeeze=False, gridspec_kw={"height_ratios": heights})
        for line_of_axes, (data, lines) in zip(axes, shown.items(), strict=True):
            for i, (axis, (name, heading)) in enumerate(zip(line_of_axes, headings.items(), strict=True)):
                _draw_panel(axis, lines, name, panels.get(name), with_names=i == 0)
                axis.set_title(f"{data}: {heading}" if i == 0 else heading)
        figure.savefig(path, dpi=130)


def _draw_panel(
    axis: Any, lines: Sequence[Line], name: str, quality: Quality | None, *, with_names: bool
) -> None:
    """A dot per row; costs, which are no quality, on an axis that begins at zero, because their ratios matter."""
    is_cost = quality is None
    scale = 1.0 if quality is None else quality.scale
    values = [scale * line.means[name].value for line in lines]
    errors = [scale * (line.means[name].error or 0.0) for line in lines]
    for i, (value, error) in enumerate(zip(values, errors, strict=True)):
        colour = COLOURS[i % len(COLOURS)]
        if is_cost:
            axis.hlines(i, 0, value, color=colour, alpha=0.3, linewidth=3)
        axis.errorbar(value, i, xerr=error, fmt="o", color=colour, markersize=5, capsize=2)
    axis.set_yticks(range(len(lines)), [line.name for line in lines] if with_names else [""] * len(lines))
    axis.set_ylim(len(lines) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.margins(x=0.12)
    if is_cost:
        axis.set_xlim(left=0)
    axis.grid(axis="x")

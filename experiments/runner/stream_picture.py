"""P@1 over the stream as a picture: a line per row, a panel per data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.picture import check_matplotlib

from experiments.runner.figures import Line
from experiments.runner.picture import COLOURS, STYLE
from experiments.runner.stream import WINDOW, figure_at, positions_of
from experiments.runner.table import Table

#: Lines of the same colour in order; there are more rows than colours to tell apart.
_DASHES = ("-", "--", ":")


def draw_streams(table: Table, parts: Mapping[str, Sequence[Line]], path: Path) -> None:
    """Write the picture as a PNG file; rows without a stream, those of batch training, are level lines."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = {data: [line for line in lines if line.n_runs] for data, lines in parts.items()}
    shown = {data: lines for data, lines in shown.items() if lines}
    if not shown:
        return
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 5.2 * len(shown) + 0.5), layout="constrained")
        figure.suptitle(
            f"{table.title}: P@1 over the stream", fontsize=13, fontweight="bold", x=0.01, ha="left"
        )
        axes = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
        for axis, (data, lines) in zip(axes, shown.items(), strict=True):
            _draw_lines(axis, lines)
            axis.set_title(
                f"{data}: P@1 of the last {WINDOW:,} examples, each predicted before it is learned, %"
            )
            axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        axes[-1].set_xlabel("examples learned")
        figure.savefig(path, dpi=130)


def _draw_lines(axis: Any, lines: Sequence[Line]) -> None:
    streams = [line for line in lines if positions_of(line.means)]
    for i, line in enumerate(streams):
        positions = positions_of(line.means)
        values = [100 * line.means[figure_at(position)].value for position in positions]
        dash = _DASHES[i // len(COLOURS) % len(_DASHES)]
        axis.plot(positions, values, dash, color=COLOURS[i % len(COLOURS)], linewidth=1.5, label=line.name)
    for i, line in enumerate(line for line in lines if line not in streams):
        value = 100 * line.means["P@1"].value
        axis.axhline(
            value,
            color="#999999",
            linewidth=1,
            linestyle=(0, (1 + 3 * i, 2)),
            label=f"{line.name} (test rows)",
        )
    axis.xaxis.set_major_formatter("{x:,.0f}")
    axis.grid()

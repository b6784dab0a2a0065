"""The time of a prediction over the size of the batch as a picture: a line per row, a panel per data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.picture import check_matplotlib

from experiments.runner.figures import Line
from experiments.runner.picture import COLOURS, STYLE
from experiments.runner.table import Table


def draw_batches(table: Table, parts: Mapping[str, Sequence[Line]], path: Path) -> None:
    """Write the picture as a PNG file, both axes logarithmic as in the paper; rows that did not run are left out."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    shown = {data: [line for line in lines if line.n_runs] for data, lines in parts.items()}
    shown = {data: lines for data, lines in shown.items() if lines}
    if not shown:
        return
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(shown) + 1.8, 4.2), layout="constrained")
        figure.suptitle(table.title, fontsize=13, fontweight="bold", x=0.01, ha="left")
        axes = figure.subplots(1, len(shown), squeeze=False)[0]
        for axis, (data, lines) in zip(axes, shown.items(), strict=True):
            for i, line in enumerate(lines):
                values = [line.means[f"batch_{size}_ms"].value for size in table.batch_sizes]
                axis.plot(table.batch_sizes, values, "o-", color=COLOURS[i % len(COLOURS)], label=line.name)
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.xaxis.set_major_formatter("{x:,.0f}")
            axis.yaxis.set_major_formatter("{x:g}")
            axis.set_title(f"{data}: ms per row")
            axis.set_xlabel("rows in a batch")
            axis.grid()
        axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        figure.savefig(path, dpi=130)

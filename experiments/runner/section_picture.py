"""A section of the paper as a picture: differences between rows on the paper's data sets and on ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from benchmarks.picture import check_matplotlib

from experiments.runner.figures import Mean
from experiments.runner.picture import COLOURS, STYLE


@dataclass(frozen=True)
class Comparison:
    """The points between two rows, by data set: the paper's and ours."""

    text: str
    papers: Mapping[str, float]
    ours: Mapping[str, Mean]


def draw_section(title: str, comparisons: Sequence[Comparison], path: Path) -> None:
    """Write the picture as a PNG file: a line per comparison, the paper's sets above in grey, ours below in colours."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    sets = list(dict.fromkeys(data for one in comparisons for data in one.ours))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 1.4 + 0.62 * len(comparisons)), layout="constrained")
        axis = figure.subplots()
        axis.axvline(0, color="#888888", linewidth=1)
        for i, one in enumerate(comparisons):
            theirs = list(one.papers.values())
            axis.plot(theirs, [i - 0.15] * len(theirs), "o", color="#AAAAAA", markersize=6, alpha=0.8)
            for data, points in one.ours.items():
                colour = COLOURS[sets.index(data) % len(COLOURS)]
                axis.errorbar(
                    points.value,
                    i + 0.15,
                    xerr=points.error or 0.0,
                    fmt="o",
                    color=colour,
                    markersize=6,
                    capsize=2,
                )
        axis.plot([], [], "o", color="#AAAAAA", label="the paper's sets")
        for i, data in enumerate(sets):
            axis.plot([], [], "o", color=COLOURS[i % len(COLOURS)], label=data)
        axis.set_yticks(range(len(comparisons)), [fill(one.text, 46) for one in comparisons])
        axis.set_ylim(len(comparisons) - 0.4, -0.6)
        axis.set_xlabel("points")
        axis.grid(axis="x")
        axis.set_title(title)
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        figure.savefig(path, dpi=110)

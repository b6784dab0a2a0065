"""The differences of all runs as a picture: a panel for each setting, a dot for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.picture import check_matplotlib

from experiments.runner.picture import COLOURS, STYLE
from experiments.runner.synthetic.study import Outcome


def draw(outcomes: Mapping[str, Sequence[Outcome]], path: Path) -> None:
    """Write a PNG file of P@1 of label trees over that of softmax; above zero trees win."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(2.4 * len(outcomes) + 0.6, 2.9), layout="constrained")
        axes = figure.subplots(1, len(outcomes), squeeze=False)[0]
        for axis, (name, runs) in zip(axes, outcomes.items(), strict=True):
            differences = sorted(100 * (run.tree - run.softmax) for run in runs)
            regrets = sorted(100 * (run.tree_expected - run.softmax_expected) for run in runs)
            axis.axhline(0, color="#888888", linewidth=1)
            axis.plot(regrets, "-", color=COLOURS[1], linewidth=1.5, label="expected")
            axis.plot(differences, "o", color=COLOURS[0], markersize=3, label="on the test rows")
            axis.set_title(name)
            axis.set_xticks([])
            axis.set_xlabel("runs, sorted")
            axis.grid(axis="y")
        axes[0].set_ylabel("points of P@1, tree over softmax")
        axes[0].legend(frameon=False, loc="upper left")
        figure.savefig(path, dpi=130)

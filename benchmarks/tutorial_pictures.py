"""The pictures of docs/tutorial.md: `python -m benchmarks.tutorial_pictures` draws them into docs/pictures.

Their backgrounds are transparent and their ink is grey, so that they can be read on light and on dark pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from labeltree import LabelTreeClassifier
from labeltree.datasets import load_tate
from labeltree.report import Report, measure_report
from labeltree.text import Tagger
from labeltree.trees import LabelTree

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
INK, BLUE, ORANGE = "#808080", "#3f7fd0", "#e0782f"
STYLE: dict[str, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
    "legend.frameon": False,
    "savefig.transparent": True,
    "svg.hashsalt": "labeltree",  # the same file from the same figures
    "svg.fonttype": "none",
    "font.family": "sans-serif",
}


def draw_counts(axes: Axes, counts: np.ndarray) -> None:
    """How many artworks have each subject, from the most to the least frequent."""
    axes.loglog(np.arange(1, len(counts) + 1), np.sort(counts)[::-1], color=BLUE, linewidth=2)
    axes.set(xlabel="subjects, the most frequent first", ylabel="artworks with the subject")


def draw_tree(axes: Axes, tree: LabelTree) -> None:
    """How many nodes and labels each level has."""
    depths = np.arange(1, tree.depth + 1)
    inner = [int(np.count_nonzero((tree.depth_of_node == depth) & ~tree.is_leaf)) for depth in depths]
    leaves = [int(np.count_nonzero((tree.depth_of_node == depth) & tree.is_leaf)) for depth in depths]
    axes.barh(depths - 0.2, inner, 0.35, color=ORANGE, label="clusters")
    axes.barh(depths + 0.2, leaves, 0.35, color=BLUE, label="subjects")
    for depth, n_inner, n_leaves in zip(depths, inner, leaves, strict=True):
        for offset, number in ((-0.2, n_inner), (0.2, n_leaves)):
            axes.text(max(number, 1) * 1.1, depth + offset, f"{number:,}", va="center", fontsize=9)
    axes.set(xscale="log", xlim=(1, 60_000), xlabel="nodes", ylabel="level below the root", yticks=depths)
    axes.invert_yaxis()
    axes.legend(loc="lower right")


def draw_frequencies(axes: Axes, report: Report) -> None:
    """Precision and recall among the best five, by the number of training rows of the labels."""
    bands = [band for band in report.frequencies if band.n_true > 0 and band.most > 0]
    place = np.arange(len(bands))
    precision = [
        100 * band.precision if band.n_predicted >= 20 else np.nan for band in bands
    ]  # of few: chance
    axes.bar(place - 0.2, precision, 0.38, color=BLUE, label="precision")
    axes.bar(place + 0.2, [100 * band.recall for band in bands], 0.38, color=ORANGE, label="recall")
    axes.set_xticks(place, [f"{band.short_name}+" for band in bands])
    axes.set(
        xlabel="training artworks of the subject, at least", ylabel="% among the best five", ylim=(0, 100)
    )
    axes.legend()


def draw_reliability(axes: Axes, reports: dict[str, Report]) -> None:
    """How often labels of a probability are true."""
    axes.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle="--")
    for (name, report), color in zip(reports.items(), (BLUE, ORANGE), strict=True):
        curve = report.calibration.labels.curve
        there = curve.mass > 0
        axes.plot(
            curve.probability[there], curve.frequency[there], "o-", color=color, label=name, markersize=4
        )
    axes.set(xlabel="probability", ylabel="share of the labels that are true", xlim=(0, 1), ylim=(0, 1))
    axes.set_aspect("equal")
    axes.legend()


def draw_thresholds(axes: Axes, report: Report) -> None:
    """Metrics of the labels above a threshold."""
    curve = report.thresholds
    axes.plot(curve.threshold, 100 * curve.micro_f1, color=BLUE, label="micro F1")
    axes.plot(curve.threshold, 100 * curve.macro_f1, color=ORANGE, label="macro F1")
    for values, color in ((curve.micro_f1, BLUE), (curve.macro_f1, ORANGE)):
        best = int(np.argmax(values))
        axes.plot(curve.threshold[best], 100 * values[best], "o", color=color)
        axes.annotate(
            f"{curve.threshold[best]:.2f}", (curve.threshold[best], 100 * values[best] + 2), ha="center"
        )
    axes.set(xlabel="threshold", ylabel="%", ylim=(0, 80))
    axes.legend()


def save(
    name: str, draw: Callable[..., None], *figures: object, size: tuple[float, float] = (6.4, 3.4)
) -> None:
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots(), *figures)
    figure.savefig(PICTURES / f"tutorial-{name}.svg", metadata={"Date": None, "Creator": None})


def main() -> None:
    tate = load_tate()
    tagger = Tagger(LabelTreeClassifier(random_state=0, n_jobs=2)).fit(tate.texts_train, tate.labels_train)
    report = measure_report(tagger, tate.texts_test, tate.labels_test)
    plain = Tagger(LabelTreeClassifier(random_state=0, n_jobs=2, link="exp4"))
    plain.fit(tate.texts_train, tate.labels_train)
    uncalibrated = measure_report(plain, tate.texts_test, tate.labels_test)
    counts = np.array(list(Counter(label for labels in tate.labels_train for label in labels).values()))
    with matplotlib.rc_context(cast(Any, STYLE)):
        save("counts", draw_counts, counts)
        save("tree", draw_tree, tagger.trees_[0])
        save("frequencies", draw_frequencies, report)
        reports = {"calibrated by training": report, "with a fixed link": uncalibrated}
        save("reliability", draw_reliability, reports, size=(4.2, 4.2))
        save("thresholds", draw_thresholds, report)
    print("P@1, P@3, P@5:", *(f"{100 * report.ranks.precision[k - 1]:.1f}" for k in (1, 3, 5)))


if __name__ == "__main__":
    main()

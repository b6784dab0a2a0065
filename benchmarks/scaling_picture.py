"""The curves of the scaling study, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

#: The panels: what the axis says, and the figures it shows with their names in the legend.
PANELS = {
    "training, seconds": {"load_s": "load", "tree_s": "tree", "nodes_s": "nodes"},
    "megabytes": {"memory_mb": "peak memory of training", "model_mb": "model on disk"},
    "prediction, ms per row": {"single_p50_ms": "one row, median", "batch_ms": "batch"},
    "nodes asked per row": {"evaluations": "exact top 5"},
}


def draw(
    title: str, rows: list[dict[str, float]], exponents: dict[str, float | None], fit_from: int, path: Path
) -> None:
    """Draw every figure against the number of labels n; dashed is the power of n where it was fitted."""
    figure = Figure(figsize=(11, 8), layout="constrained")
    n_labels = np.array([row["n_labels"] for row in rows])
    for axes, (name_of_axis, curves) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        drawn = np.array([[row[name] for row in rows] for name in curves])
        for name, values in zip(curves, drawn, strict=True):
            draw_curve(axes, n_labels, values, curves[name], exponents[name], n_labels >= fit_from)
        axes.set(xscale="log", yscale="log", xlabel="labels n", ylabel=name_of_axis)
        # Whole powers of ten, so that slopes look as steep as they are.
        axes.set_ylim(10 ** np.floor(np.log10(drawn.min())), 10 ** np.ceil(np.log10(drawn.max())))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
            axis.set_minor_formatter(NullFormatter())
        axes.grid(which="major", alpha=0.4)
        axes.grid(which="minor", alpha=0.1)
        axes.legend()
    figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def draw_curve(
    axes: Axes,
    n_labels: NDArray[np.float64],
    values: NDArray[np.float64],
    label: str,
    exponent: float | None,
    fitted: NDArray[np.bool_],
) -> None:
    """Draw one curve and its fit."""
    if exponent is not None:
        label += f"  ∝ n$^{{{exponent:.2f}}}$"
    (curve,) = axes.plot(n_labels, values, marker="o", label=label)
    if exponent is not None:
        n = n_labels[fitted]
        middle = np.exp(np.log(values[fitted] / n**exponent).mean())
        axes.plot(n, middle * n**exponent, linestyle="--", color=curve.get_color(), alpha=0.5)

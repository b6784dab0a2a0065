"""What labeltree needs as the number of labels grows: time, memory, size on disk and nodes asked per row.

python -m benchmarks.scaling

Every size is measured in a fresh process, on synthetic data that are made on first use.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.data import CACHE, prepare, synthetic_name

SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]

#: What is drawn and fitted: the name of each figure and what it is called.
CURVES = {
    "load_s": "load s",
    "tree_s": "tree s",
    "nodes_s": "nodes s",
    "memory_mb": "memory MB",
    "model_mb": "model MB",
    "batch_ms": "batch ms/row",
    "single_p50_ms": "one row p50 ms",
    "evaluations": "nodes asked per row",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description="Measure labeltree as the number of labels grows."
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of labels")
    parser.add_argument(
        "--rows-per-label", type=float, help="training rows; by default in the usual proportion"
    )
    parser.add_argument("--n-trees", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each size; the median is shown")
    parser.add_argument(
        "--fit-from",
        type=int,
        default=10_000,
        help="the smallest size that counts for the exponents: below, constants rule",
    )
    parser.add_argument(
        "--json", type=Path, default=CACHE / "scaling.json", help="where all figures are written"
    )
    parser.add_argument(
        "--picture", type=Path, default=CACHE / "scaling.png", help="where the curves are drawn"
    )
    options = parser.parse_args()
    try:
        from benchmarks.scaling_picture import draw
    except ImportError:
        parser.error("the picture needs matplotlib: pip install --group bench")

    runs: dict[int, list[dict[str, float]]] = {size: [] for size in sorted(options.sizes)}
    for repetition in range(options.repeat):
        for size in runs:
            print(f"run {repetition + 1}: {size:,} labels", file=sys.stderr, flush=True)
            runs[size].append(measure(size, options.rows_per_label, options.threads, options.n_trees))
    rows = [
        {name: statistics.median(run[name] for run in measured) for name in measured[0]}
        for measured in runs.values()
    ]
    exponents = {name: fitted_exponent(rows, name, options.fit_from) for name in CURVES}

    title = f"labeltree, trees: {options.n_trees}, threads: {options.threads}"
    show(title, rows, exponents)
    report = {"threads": options.threads, "n_trees": options.n_trees, "sizes": rows, "exponents": exponents}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({**report, "runs": list(runs.values())}, indent=1) + "\n")
    draw(title, rows, exponents, options.fit_from, options.picture)
    print(f"figures in {options.json}, curves in {options.picture}", file=sys.stderr)
    return 0


def measure(n_labels: int, rows_per_label: float | None, threads: int, n_trees: int) -> dict[str, float]:
    """Train and ask in a fresh process."""
    name = synthetic_name(n_labels, None if rows_per_label is None else round(rows_per_label * n_labels))
    script = Path(__file__).with_name("scaling_run.py")
    arguments = map(str, (*prepare(name), threads, n_trees))
    done = subprocess.run([sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def fitted_exponent(rows: list[dict[str, float]], name: str, fit_from: int) -> float | None:
    """The power of the number of labels that a figure grows with: a line through the logarithms."""
    points = [(row["n_labels"], row[name]) for row in rows if row["n_labels"] >= fit_from]
    if len(points) < 2:
        return None
    n_labels, values = np.log(points).T
    return float(np.polyfit(n_labels, values, deg=1)[0])


def show(title: str, rows: list[dict[str, float]], exponents: dict[str, float | None]) -> None:
    table = Table(title=title)
    for column in ("labels", "rows", *CURVES.values(), "P@1", "P@5"):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            f"{row['n_labels']:,.0f}",
            f"{row['n_rows']:,.0f}",
            *(f"{row[name]:.4g}" for name in CURVES),
            *(f"{100 * row[name]:.1f}" for name in ("P@1", "P@5")),
        )
    table.add_section()
    fitted = ("" if exponents[name] is None else f"n^{exponents[name]:.2f}" for name in CURVES)
    table.add_row("exponent", "", *fitted, "", "")
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())

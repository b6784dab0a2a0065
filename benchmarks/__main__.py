"""Runs every system on the same files, each in a process and an environment of its own, and prints one table."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.data import prepare
from benchmarks.runner import SYSTEMS, Run, run_system
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate, inverse_propensity


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--data", default="eurlex57k", help="a set in LABELTREE_DATA, or a folder with train.txt and test.txt"
    )
    parser.add_argument(
        "--systems", nargs="+", default=["labeltree", "omikuji", "napkinxc"], choices=sorted(SYSTEMS)
    )
    parser.add_argument("--n-trees", nargs="+", type=int, default=[1, 3], help="numbers of trees to measure")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs of each, interleaved; the median is shown"
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()

    train, test = prepare(options.data)
    _, y_train = read_xmlc(train)
    _, y_test = read_xmlc(test, n_labels=y_train.shape[1])
    propensity = inverse_propensity(y_train)

    runs: dict[tuple[str, int], list[Run]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for repetition in range(options.repeat):
            for n_trees in options.n_trees:
                for system in options.systems:
                    print(f"run {repetition + 1}: {system}, {n_trees} tree(s)", file=sys.stderr, flush=True)
                    run = run_system(system, train, test, Path(folder), n_trees, options.threads)
                    top = np.load(run.predictions)
                    run.figures |= evaluate(y_test, top, inverse_propensity=propensity)
                    runs.setdefault((system, n_trees), []).append(run)

    rows = [summary(system, n_trees, measured) for (system, n_trees), measured in runs.items()]
    show(rows, options.threads, Path(train).parent.name)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def summary(system: str, n_trees: int, measured: list[Run]) -> dict[str, object]:
    """The median of every figure; the training times one by one, since they show the noise."""
    names = measured[0].figures
    medians = {name: statistics.median(run.figures[name] for run in measured) for name in names}
    seconds = [round(run.figures["train_s"], 2) for run in measured]
    return {
        "system": system,
        "version": measured[0].version,
        "n_trees": n_trees,
        **medians,
        "train_s_all": seconds,
    }


def show(rows: list[dict[str, object]], threads: int, data: str) -> None:
    """One table; load, train and save together, and single rows, also as ratios to labeltree's with as many trees."""
    ours = {row["n_trees"]: row for row in rows if row["system"] == "labeltree"}
    table = Table(title=f"{data}, {threads} threads")
    for column in (
        "system", "trees", "load s", "train s", "load+train+save s", "x ours", "memory MB", "model MB",
        "batch ms/row", "one row p50 ms", "x ours", "P@1", "P@3", "P@5", "nDCG@5", "PSP@5",
    ):  # fmt: skip
        table.add_column(column, justify="left" if column == "system" else "right")
    for row in rows:
        base = ours.get(row["n_trees"])

        def ratio(name: str, row: dict[str, object] = row, base: dict[str, object] | None = base) -> str:
            return "" if base is None else f"{float(row[name]) / float(base[name]):.1f}"  # type: ignore[arg-type] # figures

        table.add_row(
            f"{row['system']} {row['version']}", str(row["n_trees"]), f"{row['load_s']:.2f}", f"{row['train_s']:.2f}",
            f"{row['total_s']:.2f}", ratio("total_s"), f"{row['memory_mb']:.0f}", f"{row['model_mb']:.1f}",
            f"{row['batch_ms']:.3f}", f"{row['single_p50_ms']:.3f}", ratio("single_p50_ms"),
            *(f"{100 * float(row[m]):.2f}" for m in ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")),  # type: ignore[arg-type] # figures
        )  # fmt: skip
    Console(width=180).print(table)


if __name__ == "__main__":
    sys.exit(main())

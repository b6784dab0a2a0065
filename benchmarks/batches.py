"""How fast rows with uncertain answers are answered: the first batch after a model is opened, later ones, the same
rows in parts that are too small for rows to share blocks, and single rows.

python -m benchmarks.batches --labels 46000 --noise 0.8

The first command trains and keeps the model; give its folder to another checkout with --model to compare the two on the
same model. Times are seconds of the processor, so that other work on the machine counts less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.data import CACHE
from labeltree import LabelTreeClassifier
from labeltree.datasets import make_extreme

K = 5
#: Fewer rows than share blocks: each is searched for alone.
FEW = 31


def seconds(model: LabelTreeClassifier, X: Any) -> float:
    before = time.process_time()
    model.predict_topk(X, K)
    return time.process_time() - before


def seconds_alone(model: LabelTreeClassifier, X: Any) -> float:
    before = time.process_time()
    for begin in range(0, X.shape[0], FEW):
        model.predict_topk(X[begin : begin + FEW], K)
    return time.process_time() - before


def open_model(path: Path) -> LabelTreeClassifier:
    model: LabelTreeClassifier = LabelTreeClassifier.load(path).set_params(n_jobs=1)
    return model


def measure(path: Path, X: Any, repeat: int, single: int) -> dict[str, float]:
    """Nodes asked per row, and microseconds per row; medians over the repeats."""
    first, later, few = [], [], []
    for _ in range(repeat):
        model = open_model(path)
        first.append(seconds(model, X))
        later.append(seconds(model, X))
        few.append(seconds_alone(model, X))
    *_, evaluations = model.predict_topk(X, K, return_evaluations=True)
    rows = [X[i] for i in range(min(single, X.shape[0]))]
    alone = [seconds(model, row) for row in rows]
    scale = 1e6 / X.shape[0]
    return {
        "nodes asked": float(evaluations.mean()),
        "first batch µs/row": float(np.median(first)) * scale,
        "later batch µs/row": float(np.median(later)) * scale,
        f"{FEW} rows at a time µs/row": float(np.median(few)) * scale,
        "one row p50 µs": float(np.quantile(alone, 0.5)) * 1e6,
        "one row p99 µs": float(np.quantile(alone, 0.99)) * 1e6,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--labels", type=int, default=46_000, help="labels of the synthetic set")
    parser.add_argument(
        "--noise", type=float, default=0.8, help="share of words that say nothing of the labels"
    )
    parser.add_argument("--rows", type=int, default=2_000, help="rows of a batch")
    parser.add_argument("--single", type=int, default=1_000, help="rows that are asked for one by one")
    parser.add_argument("--repeat", type=int, default=5, help="times that the model is opened")
    parser.add_argument("--model", type=Path, help="folder of a model of this set, instead of training one")
    options = parser.parse_args(arguments)
    X, y, X_test, _, _ = make_extreme(
        options.labels, n_test=options.rows, noise=options.noise, random_state=0
    )
    path = options.model or CACHE / f"batches-{options.labels}-{options.noise}.model"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        LabelTreeClassifier(n_jobs=-1, random_state=0).fit(X, y).save(path)
    found = measure(path, X_test, options.repeat, options.single)
    table = Table(title=f"{K} best of {options.labels:,} labels, noise {options.noise}, one thread")
    for heading in found:
        table.add_column(heading, justify="right")
    table.add_row(*(f"{value:,.1f}" for value in found.values()))
    console = Console()
    console.print(table)
    console.print(f"model: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

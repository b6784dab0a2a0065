"""What the types of weights cost and save: a model of each set as float32, bfloat16 and int8, on development rows.

python -m benchmarks.weights bibtex delicious tate eurlex57k extreme-100k-200k
python -m benchmarks.weights bibtex --estimator OneVsRestClassifier

The models of a set answer in turns, so that other work on the machine slows all of them alike. Times are seconds of the
processor, relative to float32.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import labeltree
from benchmarks.development import prepare_parts
from labeltree.calibration import label_pairs
from labeltree.calibration.report import CalibrationMeasures
from labeltree.data import read_xmlc
from labeltree.model_file import load

TYPES = ("float32", "bfloat16", "int8")
K = 5
COLUMNS = ("set", "weights", "P@1", "P@3", "P@5", "log loss", "MB", "share", "batch", "one row")


def quality(model: Any, X: Any, y: Any) -> list[float]:
    """P@1, P@3 and P@5 in percent, and the log loss of all labels per row."""
    top = model.predict_topk(X, K)
    hits = np.asarray(y[np.arange(X.shape[0])[:, None], top.labels].todense()) > 0
    measures = CalibrationMeasures.of("labels", label_pairs(model, X, y))
    return [*(100 * float(hits[:, :k].mean()) for k in (1, 3, 5)), measures.log_loss_per_row]


def seconds(ask: Callable[[], object]) -> float:
    before = time.process_time()
    ask()
    return time.process_time() - before


def measure(name: str, estimator: str, seed: int, repeat: int) -> list[list[str]]:
    """The rows of the table about one set."""
    parts = prepare_parts(name)
    X, y = read_xmlc(parts.train)
    X_dev, y_dev = read_xmlc(parts.dev, n_features=X.shape[1], n_labels=y.shape[1])
    trained = getattr(labeltree, estimator)(weights="float32", random_state=seed, n_jobs=-1).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        models, megabytes = {}, {}
        for kind in TYPES:
            trained.save(Path(folder) / kind, weights=kind)
            opened: Any = load(Path(folder) / kind)
            models[kind] = opened.set_params(n_jobs=1)
            megabytes[kind] = sum(path.stat().st_size for path in (Path(folder) / kind).iterdir()) / 1e6
        found = {kind: quality(model, X_dev, y_dev) for kind, model in models.items()}
        batch, single = X_dev[:2000], [X_dev[i] for i in range(min(300, X_dev.shape[0]))]
        times: dict[str, list[list[float]]] = {kind: [] for kind in TYPES}
        for turn in range(repeat):
            for kind in TYPES if turn % 2 else TYPES[::-1]:
                model = models[kind]
                together = seconds(lambda model=model: model.predict_topk(batch, K))  # type: ignore[misc]
                alone = seconds(lambda model=model: [model.predict_topk(row, K) for row in single])  # type: ignore[misc]
                times[kind].append([together, alone])
    unit = np.array(times["float32"])
    return [
        [
            name,
            kind,
            *(f"{value:.2f}" for value in found[kind]),
            f"{megabytes[kind]:.2f}",
            f"{megabytes[kind] / megabytes['float32']:.2f}",
            *(f"{ratio:.2f}" for ratio in np.median(np.array(times[kind]) / unit, axis=0)),
        ]
        for kind in TYPES
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    parser.add_argument("sets", nargs="+", help="as in benchmarks/development.py")
    parser.add_argument(
        "--estimator", default="LabelTreeClassifier", help="a class with the parameter weights"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=9, help="times that each model answers")
    options = parser.parse_args(arguments)
    table = Table(title=options.estimator)
    for heading in COLUMNS:
        table.add_column(heading, justify="left" if heading in COLUMNS[:2] else "right")
    for name in options.sets:
        for row in measure(name, options.estimator, options.seed, options.repeat):
            table.add_row(*row)
    Console().print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What one classifier per label adds to label trees. The tables in docs/reranking.md.

python -m benchmarks.rerank eurlex57k tate             # a quarter of an hour; test rows
python -m benchmarks.rerank --no-rival extreme-670k    # without 1-vs-all
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier, OneVsRestClassifier
from labeltree.calibration import expected_calibration_error, measure_calibration
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate, inverse_propensity

#: Number of rows that are asked one by one.
SINGLE_ROWS = 1000

COLUMNS = [
    "data",
    "model",
    "P@1",
    "P@3",
    "P@5",
    "PSP@5",
    "training CPU s",
    "×",
    "one row µs",
    "×",
    "size MB",
    "×",
]
COLUMNS += ["error per row", "error of the best 5"]


def models(with_rival: bool, seed: int) -> dict[str, Any]:
    """The models by their names; the first is what the others are compared with."""
    found: dict[str, Any] = {
        "tree": LabelTreeClassifier(random_state=seed),
        "tree, rerank=20": LabelTreeClassifier(rerank=20, random_state=seed),
        "3 trees": LabelTreeClassifier(3, random_state=seed),
        "3 trees, rerank=20": LabelTreeClassifier(3, rerank=20, random_state=seed),
    }
    if with_rival:
        found["1-vs-all"] = OneVsRestClassifier(random_state=seed, n_jobs=-1)
    return found


def measure(model: Any, data: tuple[Any, ...]) -> dict[str, float]:
    """Train a model and measure it."""
    X, y, X_test, y_test = data
    started = time.process_time()
    model.fit(X, y)
    cost = time.process_time() - started
    top = model.predict_topk(X_test, 5)
    quality = evaluate(y_test, top.labels, inverse_propensity=inverse_propensity(y))
    found = np.asarray(y_test[np.arange(len(top.labels))[:, None], top.labels].todense()).ravel() > 0
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        size = sum(path.stat().st_size for path in (Path(folder) / "model").iterdir())
    report = measure_calibration(model, X_test[:SINGLE_ROWS], y_test[:SINGLE_ROWS])
    return {
        **{name: 100 * quality[name] for name in ("P@1", "P@3", "P@5", "PSP@5")},
        "training CPU s": cost,
        "one row µs": 1e6 * single_row(lambda row: model.predict_topk(X_test[row], 5), X_test.shape[0]),
        "size MB": size / 1e6,
        "error per row": report.labels.error_per_row,
        "error of the best 5": expected_calibration_error(found, top.probabilities.ravel()),
    }


def single_row(ask: Callable[[int], Any], n_rows: int) -> float:
    """The median number of seconds for one row."""
    seconds = []
    for row in range(min(SINGLE_ROWS, n_rows)):
        started = time.perf_counter()
        ask(row)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def read(name: str, rows: str) -> tuple[Any, ...]:
    """Training rows and the rows to judge by: test rows, or the development rows of a folder that has them."""
    train, test = prepare(name)
    X, y = read_xmlc(train)
    judged = test.with_name(f"{rows}.txt")
    return X, y, *read_xmlc(judged, n_features=X.shape[1], n_labels=y.shape[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rerank", description=__doc__)
    parser.add_argument("data", nargs="*", default=["eurlex57k", "tate"])
    parser.add_argument("--rows", choices=["test", "dev"], default="test", help="the rows to judge by")
    parser.add_argument("--no-rival", action="store_true", help="without 1-vs-all, which takes long")
    parser.add_argument("--only", nargs="+", help="these models only; the first is always measured")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |")
    print("|" + " --- |" * len(COLUMNS), flush=True)
    for name in options.data:
        data, first = read(name, options.rows), None
        for model_name, model in models(not options.no_rival, options.seed).items():
            if first is not None and options.only is not None and model_name not in options.only:
                continue
            figures = measure(model, data)
            first = first or figures
            cells = [Path(name).name, model_name]
            cells += [f"{figures[column]:.2f}" for column in ("P@1", "P@3", "P@5", "PSP@5")]
            for column in ("training CPU s", "one row µs", "size MB"):
                cells += [f"{figures[column]:.3g}", f"{figures[column] / first[column]:.2f}"]
            cells += [f"{figures['error per row']:.3f}", f"{figures['error of the best 5']:.3f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""How long one row takes through the Python API, and how much of that is the kernel's.

python -m benchmarks.latency eurlex57k --threads 1 2 4
"""

from __future__ import annotations

import argparse
import itertools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc

K = 5


class RecordedForest:
    """Stands in for the kernel's forest, passes its calls on and remembers them."""

    def __init__(self, forest: Any) -> None:
        self._recorded_forest = forest
        self.calls: list[Callable[[], object]] = []

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._recorded_forest, name)

        def recorded(*arguments: Any, **named: Any) -> object:
            self.calls.append(partial(method, *arguments, **named))
            return method(*arguments, **named)

        return recorded


def kernel_calls(model: LabelTreeClassifier, rows: Sequence[Any]) -> list[Callable[[], object]]:
    """For every row the call of the kernel that `predict_topk` makes, ready to be made again."""
    linear: Any = model.model_.forest
    kernel, forest = linear.native, RecordedForest(linear.native)
    linear.native = forest
    try:
        for row in rows:
            model.predict_topk(row, K)
    finally:
        linear.native = kernel
    if len(forest.calls) != len(rows):
        raise RuntimeError(
            f"expected one call of the kernel per row, saw {len(forest.calls)} for {len(rows)} rows"
        )
    return forest.calls


@dataclass(frozen=True)
class Latency:
    """Times of single calls, in seconds, made by some threads at once, and calls per second of all together."""

    times: NDArray[np.float64]
    per_second: float

    def quantile_us(self, q: float) -> float:
        return float(np.quantile(self.times, q)) * 1e6


def latency(calls: Sequence[Callable[[], object]], threads: int, seconds: float) -> Latency:
    """Make calls over and over for a while, in some threads at once, every thread from another one on."""
    found: list[list[float]] = [[] for _ in range(threads)]
    barrier = threading.Barrier(threads + 1)

    def work(times: list[float], first: int) -> None:
        clock = time.perf_counter
        barrier.wait()
        end = clock() + seconds
        for at in itertools.count(first):
            before = clock()
            calls[at % len(calls)]()
            after = clock()
            times.append(after - before)
            if after > end:
                break

    workers = [
        threading.Thread(target=work, args=(times, i * len(calls) // threads))
        for i, times in enumerate(found)
    ]
    for worker in workers:
        worker.start()
    barrier.wait()
    started = time.perf_counter()
    for worker in workers:
        worker.join()
    elapsed = time.perf_counter() - started
    times = np.concatenate([np.asarray(one) for one in found])
    return Latency(times, len(times) / elapsed)


def measure(
    model: LabelTreeClassifier, rows: Sequence[Any], threads: Sequence[int], seconds: float, console: Console
) -> None:
    """Print a table of the kernel alone and of the API, for every number of threads."""
    kernel = kernel_calls(model, rows)
    api = [partial(model.predict_topk, row, K) for row in rows]
    table = Table(title=f"{K} best labels of one row, {model.n_trees} tree(s)")
    for heading in ("threads", "what", "p50 µs", "p99 µs", "calls/s", "× kernel"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for number in threads:
        latency(api, number, seconds / 4)  # warms up
        alone, whole = latency(kernel, number, seconds), latency(api, number, seconds)
        for what, measured in (("kernel alone", alone), ("predict_topk", whole)):
            compared = measured.quantile_us(0.5) / alone.quantile_us(0.5)
            table.add_row(
                str(number),
                what,
                f"{measured.quantile_us(0.5):,.1f}",
                f"{measured.quantile_us(0.99):,.1f}",
                f"{measured.per_second:,.0f}",
                f"{compared:.2f}" if measured is whole else "",
            )
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.latency", description=__doc__)
    parser.add_argument("data", nargs="?", default="eurlex57k", help="a set in LABELTREE_DATA, or a folder")
    parser.add_argument("--model", help="a saved model to ask, instead of training one")
    parser.add_argument("--n-trees", nargs="+", type=int, default=[1, 3], help="trees of the models to train")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2, 4], help="threads that ask at once")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the test file to ask for")
    parser.add_argument("--seconds", type=float, default=3, help="how long each is measured")
    options = parser.parse_args(arguments)
    train, test = prepare(options.data)
    X, y = read_xmlc(train, n_jobs=-1)
    X_test, _ = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
    rows = [X_test[i] for i in range(min(options.rows, X_test.shape[0]))]
    console = Console()
    if options.model:
        measure(LabelTreeClassifier.load(options.model), rows, options.threads, options.seconds, console)
        return 0
    for n_trees in options.n_trees:
        model = LabelTreeClassifier(n_trees, n_jobs=-1, random_state=0).fit(X, y)
        measure(model, rows, options.threads, options.seconds, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())

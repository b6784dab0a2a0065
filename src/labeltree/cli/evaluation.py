"""The quality, speed and size of a model, as `evaluate` and `demo` measure and print them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.padding import Padding
from rich.table import Table

from labeltree.cli.figures import bytes_text, count_text, directory_bytes, peak_memory_bytes
from labeltree.metrics import evaluate, inverse_propensity_of_counts
from labeltree.metrics.propensity import FEWEST_ROWS, LabelWeights
from labeltree.model_file import read_info
from labeltree.validation import n_threads

CUTOFFS = (1, 3, 5)
SINGLE_ROWS = 1000


@dataclass(frozen=True)
class Evaluation:
    """The figures of one model on one set of test rows, named as in JSON; metrics are from 0 to 1."""

    rows: int
    labels: int
    nodes: int
    metrics: dict[str, float]
    batch_ms_per_row: float
    threads: int
    single_row_ms: dict[str, float]
    single_rows: int
    node_evaluations_per_row: float
    model_bytes: int
    peak_memory_bytes: int | None

    @classmethod
    def measure(
        cls,
        model: Any,
        path: Path,
        X: Any,
        y: Any,
        A: float = 0.55,
        B: float = 1.5,
        label_weight: NDArray[np.float64] | None = None,
    ) -> Evaluation:
        """Predict the rows of X, one by one and together, and compare with y: a matrix, or lists of labels."""
        k, n_rows = max(CUTOFFS), len(y) if isinstance(y, list) else y.shape[0]
        # Row by row first: this also brings the model into memory, so that the batch does not wait for the disk.
        single = _single_row_ms(model, X[:SINGLE_ROWS], k, label_weight)
        started = time.perf_counter()
        labels, _, evaluations = model.predict_topk(X, k, label_weight=label_weight, return_evaluations=True)
        seconds = time.perf_counter() - started
        return cls(
            rows=n_rows,
            labels=len(model.classes_),
            nodes=sum(tree.n_nodes for tree in read_info(path).trees),
            metrics=_compare(y, labels, model, A, B),
            batch_ms_per_row=1000 * seconds / n_rows,
            threads=n_threads(model.n_jobs),
            single_row_ms={f"p{percent}": float(np.percentile(single, percent)) for percent in (50, 99)},
            single_rows=len(single),
            node_evaluations_per_row=float(evaluations.mean()),
            model_bytes=directory_bytes(path),
            peak_memory_bytes=peak_memory_bytes(),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __rich__(self) -> Group:
        quality = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 4, 0, 0))
        quality.add_column("%")
        for k in CUTOFFS:
            quality.add_column(f"@{k}", justify="right", min_width=6)
        for name in dict.fromkeys(key.partition("@")[0] for key in self.metrics):
            quality.add_row(name, *(f"{100 * self.metrics[f'{name}@{k}']:.2f}" for k in CUTOFFS))
        threads = count_text(self.threads, "thread")
        cost = Table(box=None, pad_edge=False, show_header=False, padding=(0, 4, 0, 0))
        cost.add_row("batch", f"{self.batch_ms_per_row:.3f} ms per row", f"all rows, {threads}")
        cost.add_row(
            "single row", f"{self.single_row_ms['p50']:.3f} ms median", f"{self.single_rows:,} calls"
        )
        cost.add_row("", f"{self.single_row_ms['p99']:.3f} ms 99th percentile")
        cost.add_row("search", f"{self.node_evaluations_per_row:,.0f} nodes per row", f"of {self.nodes:,}")
        cost.add_row("model", bytes_text(self.model_bytes), "on disk")
        if self.peak_memory_bytes is not None:
            cost.add_row("memory", bytes_text(self.peak_memory_bytes), "peak of this process, data included")
        return Group(Padding(quality, (0, 0, 1, 2)), Padding(cost, (0, 0, 0, 2)))


def _compare(y: Any, labels: Any, model: Any, A: float, B: float) -> dict[str, float]:
    """Return all metrics; propensity-scored ones only if the model had enough rows to estimate propensities."""
    has_names, classes = isinstance(y, list), model.classes_
    if has_names:
        ranking: Any = [row + [None] * (max(CUTOFFS) - len(row)) for row in labels.tolist()]
        counts = np.append(model.label_counts_, 0)  # the last is for labels that the model does not know
    else:
        ranking = np.full((y.shape[0], max(CUTOFFS)), -1)
        ranking[:, : labels.shape[1]] = labels
        counts = np.zeros(int(classes.max()) + 1)
        counts[classes] = model.label_counts_
    weights: Any = None
    if model.n_samples_fit_ >= FEWEST_ROWS:
        weights = inverse_propensity_of_counts(counts, model.n_samples_fit_, A, B)
        if has_names:
            *known, unseen = weights.tolist()
            weights = LabelWeights(dict(zip(classes.tolist(), known, strict=True)), unseen)
    return evaluate(y, ranking, CUTOFFS, inverse_propensity=weights)


def _single_row_ms(model: Any, X: Any, k: int, label_weight: NDArray[np.float64] | None) -> list[float]:
    rows = [X[i : i + 1] for i in range(len(X) if isinstance(X, list) else X.shape[0])]
    taken = []
    for row in [rows[0], *rows]:  # the first call also builds what later calls share: it does not count
        started = time.perf_counter()
        model.predict_topk(row, k, label_weight=label_weight)
        taken.append(1000 * (time.perf_counter() - started))
    return taken[1:]

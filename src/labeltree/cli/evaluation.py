"""How good, fast and large a model is: what `evaluate` and `demo` measure and print."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.padding import Padding
from rich.table import Table

from labeltree import metrics
from labeltree.cli.figures import bytes_text, directory_bytes, peak_memory_bytes
from labeltree.validation import n_threads

CUTOFFS = (1, 3, 5)
SINGLE_ROWS = 1000


@dataclass(frozen=True)
class Evaluation:
    """Figures of one model on one set of test rows; `values` are the metrics, from 0 to 1."""

    n_rows: int
    n_labels: int
    n_nodes: int
    values: dict[str, float]
    batch_ms_per_row: float
    n_threads: int
    single_row_ms: dict[str, float]
    n_single_rows: int
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
        """Predict the rows of X, one by one and together, and compare with y, whose columns or members are labels."""
        k, n_rows = max(CUTOFFS), len(y) if isinstance(y, list) else y.shape[0]
        # Row by row first: this also brings the model into memory, so that the batch does not wait for the disk.
        single = _single_row_ms(model, X[:SINGLE_ROWS], k, label_weight)
        started = time.perf_counter()
        labels, _, evaluations = model.predict_topk(X, k, label_weight=label_weight, return_evaluations=True)
        seconds = time.perf_counter() - started
        return cls(
            n_rows=n_rows,
            n_labels=len(model.classes_),
            n_nodes=sum(tree.n_nodes for tree in model._tree_shapes()),
            values=_compare(y, labels, model, A, B),
            batch_ms_per_row=1000 * seconds / n_rows,
            n_threads=n_threads(model.n_jobs),
            single_row_ms={f"p{percent}": float(np.percentile(single, percent)) for percent in (50, 99)},
            n_single_rows=len(single),
            node_evaluations_per_row=float(evaluations.mean()),
            model_bytes=directory_bytes(path),
            peak_memory_bytes=peak_memory_bytes(),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": self.n_rows,
            "labels": self.n_labels,
            "nodes": self.n_nodes,
            "metrics": self.values,
            "batch_ms_per_row": self.batch_ms_per_row,
            "threads": self.n_threads,
            "single_row_ms": self.single_row_ms,
            "single_rows": self.n_single_rows,
            "node_evaluations_per_row": self.node_evaluations_per_row,
            "model_bytes": self.model_bytes,
            "peak_memory_bytes": self.peak_memory_bytes,
        }

    def __rich__(self) -> Group:
        quality = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 4, 0, 0))
        quality.add_column("%")
        for k in CUTOFFS:
            quality.add_column(f"@{k}", justify="right", min_width=6)
        for name in dict.fromkeys(key.partition("@")[0] for key in self.values):
            quality.add_row(name, *(f"{100 * self.values[f'{name}@{k}']:.2f}" for k in CUTOFFS))
        cost = Table(box=None, pad_edge=False, show_header=False, padding=(0, 4, 0, 0))
        cost.add_row(
            "batch", f"{_ms(self.batch_ms_per_row)} per row", f"all rows, {_threads(self.n_threads)}"
        )
        cost.add_row(
            "single row", f"{_ms(self.single_row_ms['p50'])} median", f"{self.n_single_rows:,} calls"
        )
        cost.add_row("", f"{_ms(self.single_row_ms['p99'])} 99th percentile")
        cost.add_row(
            "search",
            f"{self.node_evaluations_per_row:,.0f} nodes per row",
            f"of {self.n_nodes:,}",
        )
        cost.add_row("model", bytes_text(self.model_bytes), "on disk")
        if self.peak_memory_bytes is not None:
            cost.add_row("memory", bytes_text(self.peak_memory_bytes), "peak of this process, data included")
        return Group(Padding(quality, (0, 0, 1, 2)), Padding(cost, (0, 0, 0, 2)))


def _compare(y: Any, labels: Any, model: Any, A: float, B: float) -> dict[str, float]:
    """All metrics; without those that weigh labels for a model of too few rows to know how rare they are."""
    weights: Any = None
    if isinstance(y, list):
        ranking: Any = [row + [None] * (max(CUTOFFS) - len(row)) for row in labels.tolist()]
        if model.n_samples_fit_ >= metrics.propensity.FEWEST_ROWS:
            counts = np.append(
                model.label_counts_, 0
            )  # the last is that of labels which the model does not know
            *known, unseen = metrics.inverse_propensity_of_counts(counts, model.n_samples_fit_, A, B).tolist()
            named = dict(zip(model.classes_.tolist(), known, strict=True))
            weights = metrics.propensity.LabelWeights(named, unseen)
    else:
        ranking = np.full((y.shape[0], max(CUTOFFS)), -1)
        ranking[:, : labels.shape[1]] = labels
        if model.n_samples_fit_ >= metrics.propensity.FEWEST_ROWS:
            counts = np.zeros(int(model.classes_.max()) + 1)
            counts[model.classes_] = model.label_counts_
            weights = metrics.inverse_propensity_of_counts(counts, model.n_samples_fit_, A, B)
    return metrics.evaluate(y, ranking, CUTOFFS, inverse_propensity=weights)


def _single_row_ms(model: Any, X: Any, k: int, label_weight: NDArray[np.float64] | None) -> list[float]:
    rows = [X[i : i + 1] for i in range(len(X) if isinstance(X, list) else X.shape[0])]
    model.predict_topk(
        rows[0], k, label_weight=label_weight
    )  # the first call also builds what later calls share
    taken = []
    for row in rows:
        started = time.perf_counter()
        model.predict_topk(row, k, label_weight=label_weight)
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.3f} ms"


def _threads(n_threads: int) -> str:
    return "1 thread" if n_threads == 1 else f"{n_threads} threads"

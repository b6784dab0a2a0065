"""The page that `evaluate --report` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from labeltree.cli.evaluation import CUTOFFS, Evaluation
from labeltree.cli.figures import bytes_text, count_text
from labeltree.cli.label_names import LabelNames
from labeltree.data.atomic_file import open_atomic
from labeltree.report import measure_report, report_page


def write_report(
    path: Path, title: str, model: Any, X: Any, y: Any, evaluation: Evaluation, names: LabelNames
) -> None:
    """Measure what `evaluation` has not, and write it all as a page that appears when it is complete."""
    report = measure_report(model, X, _labels(y, model.classes_), k=max(CUTOFFS))
    propensity = f"PSP@{max(CUTOFFS)}"
    headline = [
        (f"{evaluation.single_row_ms['p50']:.3f} ms", "One query", "median, in memory"),
        (
            f"{evaluation.batch_ms_per_row:.3f} ms",
            "A row of a batch",
            count_text(evaluation.n_threads, "thread"),
        ),
        (f"{evaluation.node_evaluations_per_row:,.0f}", "Nodes asked per row", f"of {evaluation.n_nodes:,}"),
        (bytes_text(evaluation.model_bytes), "Model", "on disk"),
    ]
    if propensity in evaluation.values:
        share = f"{100 * evaluation.values[propensity]:.2f}"
        headline.insert(0, (share, propensity, "per cent; rare labels count more"))
    page = report_page(report, title, headline=headline, names=names.__getitem__)
    with open_atomic(path) as file:
        file.write(page.encode())


def _labels(y: Any, classes: Any) -> Any:
    """y as it is, or as lists: a matrix of a file has a column for every number, also for those that are no label."""
    if not issparse(y) or (len(classes) == y.shape[1] and np.array_equal(classes, np.arange(y.shape[1]))):
        return y
    return [part.tolist() for part in np.split(y.indices, y.indptr[1:-1])]

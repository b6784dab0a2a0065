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
    """Measure what `evaluation` does not have, and write a page that appears when it is complete."""
    report = measure_report(model, X, _labels(y, model.classes_), k=max(CUTOFFS))
    threads = count_text(evaluation.threads, "thread")
    headline = [
        (f"{evaluation.single_row_ms['p50']:.3f} ms", "One query", "median, in memory"),
        (f"{evaluation.batch_ms_per_row:.3f} ms", "A row of a batch", threads),
        (f"{evaluation.node_evaluations_per_row:,.0f}", "Nodes asked per row", f"of {evaluation.nodes:,}"),
        (bytes_text(evaluation.model_bytes), "Model", "on disk"),
    ]
    propensity = f"PSP@{max(CUTOFFS)}"
    if propensity in evaluation.metrics:
        share = f"{100 * evaluation.metrics[propensity]:.2f}"
        headline.insert(0, (share, propensity, "per cent; rare labels count more"))
    page = report_page(report, title, headline=headline, names=names.__getitem__)
    with open_atomic(path) as file:
        file.write(page.encode())


def _labels(y: Any, classes: Any) -> Any:
    """Return y, as lists if it is a matrix with columns that are not labels of the model."""
    if not issparse(y) or (len(classes) == y.shape[1] and np.array_equal(classes, np.arange(y.shape[1]))):
        return y
    return [part.tolist() for part in np.split(y.indices, y.indptr[1:-1])]

"""The page that `evaluate --report` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from labeltree.cli.evaluation import CUTOFFS, Evaluation
from labeltree.cli.figures import bytes_text, count_text
from labeltree.cli.label_names import LabelNames
from labeltree.cli.labelled_rows import label_lists
from labeltree.data.atomic_file import open_atomic
from labeltree.report import measure_report, report_page


def write_report(
    path: Path, title: str, model: Any, X: Any, y: Any, evaluation: Evaluation, names: LabelNames
) -> None:
    """Measure what `evaluation` does not have, and write a page that appears when it is complete."""
    if issparse(y) and not np.array_equal(model.classes_, np.arange(y.shape[1])):
        y = label_lists(y)  # the matrix has columns that are not labels of the model
    report = measure_report(model, X, y, k=max(CUTOFFS))
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

"""The page that `evaluate --report` writes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from labeltree import sparse as sp
from labeltree.cli.data_file import Rows
from labeltree.cli.evaluation import CUTOFFS, Evaluation
from labeltree.cli.figures import bytes_text
from labeltree.cli.label_names import LabelNames
from labeltree.cli.labelled_rows import label_lists
from labeltree.data.atomic_file import open_atomic
from labeltree.report import measure_report, report_page
from labeltree.wording import count_text


def write_report(
    path: Path, title: str, model: Any, directory: Path, rows: Rows, evaluation: Evaluation, names: LabelNames
) -> None:
    """Measure what `evaluation` does not have, and write a page that appears when it is complete."""
    y = rows.y
    if sp.issparse(y) and not np.array_equal(model.classes_, np.arange(y.shape[1])):
        y = label_lists(y)  # the matrix has columns that are not labels of the model
    report = measure_report(model, rows.X, y, k=max(CUTOFFS), texts=rows.texts, ids=rows.ids)
    threads = count_text(evaluation.threads, "thread")
    noun = evaluation.timed.removesuffix("s")
    headline = [
        (
            f"{100 * evaluation.decided.micro_f1:.2f}",
            "Micro F1",
            f"per cent; {evaluation.decision['description']}",
        ),
        (f"{100 * evaluation.decided.macro_f1:.2f}", "Macro F1", "per cent; labels that occur"),
        (f"{evaluation.single_row_ms['p50']:.3f} ms", f"One {noun}", "median, alone"),
        (f"{evaluation.batch_ms_per_row:.3f} ms", f"A {noun} of a batch", threads),
        (bytes_text(evaluation.model_bytes), "Model", "on disk"),
    ]
    propensity = f"PSP@{max(CUTOFFS)}"
    if propensity in evaluation.metrics:
        share = f"{100 * evaluation.metrics[propensity]:.2f}"
        headline.insert(0, (share, propensity, "per cent; rare labels count more"))
    saved = datetime.fromtimestamp((directory / "model.json").stat().st_mtime)
    facts = {
        "directory": str(directory),
        "saved": f"{saved:%Y-%m-%d %H:%M}, {bytes_text(evaluation.model_bytes)}",
        "measured": f"{datetime.now():%Y-%m-%d %H:%M} on {count_text(evaluation.rows, 'row')}",
    }
    shown = names.__getitem__ if names.are_from_file else None
    page = report_page(report, title, headline=headline, facts=facts, names=shown)
    with open_atomic(path) as file:
        file.write(page.encode())

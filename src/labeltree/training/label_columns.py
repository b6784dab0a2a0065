"""Trained label classifiers: chunks of the kernel, joined label by label, in memory or on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from labeltree.calibration.fitting import CERTAIN_SCORE
from labeltree.model.dense_weights import PANEL_COLUMNS
from labeltree.training.array_folder import Arrays, new_array, write_arrays
from labeltree.training.column_plan import ColumnPlan


class TrainedColumns:
    """Collects the trained chunks of a plan.

    Parameters
    ----------
    plan : ColumnPlan
    folder : path, optional
        Chunks and joined arrays are written here, and mapped: neither needs memory.
    """

    def __init__(self, plan: ColumnPlan, folder: Path | None = None) -> None:
        self.plan = plan
        self.folder = folder
        self._chunks: dict[int, Arrays] = {}

    def add(self, number: int, chunk: Arrays) -> None:
        """Keep a trained chunk."""
        self._chunks[number] = (
            chunk if self.folder is None else write_arrays(self.folder / "chunks" / str(number), chunk)
        )

    def joined(self, n_labels: int, n_dense: int) -> Arrays:
        """Return the arrays of all labels; those that the plan does not have are never positive."""
        bias = np.full(n_labels, -CERTAIN_SCORE, dtype=np.float32)
        dense = new_array(self.folder if n_dense > 0 else None, "dense", n_labels * n_dense, np.float32)
        count = np.zeros(n_labels + 1, dtype=np.int64)
        for number, chunk in self._chunks.items():
            label = self.plan.labels_of(number)
            bias[label] = chunk["bias"]
            panels = chunk["dense_weight"].reshape(-(-len(label) // PANEL_COLUMNS), n_dense, PANEL_COLUMNS)
            rows = panels.transpose(0, 2, 1).reshape(len(panels) * PANEL_COLUMNS, n_dense)
            dense.reshape(n_labels, n_dense)[label] = rows[: len(label)]
            labels, of_labels = np.unique(chunk["column"], return_counts=True)
            count[labels + np.int64(1)] = of_labels
        begin = np.cumsum(count)
        n_weights = int(begin[-1])
        feature = new_array(self.folder, "feature", n_weights, np.int32)
        weight = new_array(self.folder, "weight", n_weights, np.float32)
        for chunk in self._chunks.values():
            # Features ascend, and a stable order keeps them ascending within each label.
            order = np.argsort(chunk["column"], kind="stable")
            column = chunk["column"][order].astype(np.int64)
            place = begin[column] + np.arange(len(column)) - np.searchsorted(column, column)
            feature[place] = np.repeat(chunk["feature"], np.diff(chunk["entry_begin"]))[order]
            weight[place] = chunk["weight"][order]
        arrays = {"begin": begin, "feature": feature, "weight": weight, "bias": bias}
        return {**arrays, "dense": dense} if n_dense > 0 else arrays

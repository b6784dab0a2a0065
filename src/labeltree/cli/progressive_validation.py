"""Progressive validation: how well a model predicts examples before it learns them, as `learn` reports."""

from __future__ import annotations

import time
from typing import Any, TypeAlias

import numpy as np

from labeltree.cli.figures import bytes_text
from labeltree.model.top_labels import TopLabels

#: The figures at one point of the stream, named as in JSON; precision is from 0 to 1, over the moving window.
Report: TypeAlias = dict[str, Any]


def report_texts(report: Report) -> dict[str, str]:
    """Return the figures of a report as texts, by the titles of their columns."""
    return {
        "examples": f"{report['examples']:,}",
        **{name: f"{100 * value:.2f}" for name, value in report.items() if name.startswith("P@")},
        "labels": f"{report['labels']:,}",
        "new/1000": f"{report['new_labels_per_thousand']:.1f}",
        "memory": bytes_text(report["memory_bytes"]),
        "examples/s": f"{report['examples_per_second']:,.0f}",
    }


class ProgressiveValidation:
    """Compares predictions with the true labels, over a moving window of examples."""

    def __init__(self, model: Any, cutoffs: tuple[int, ...], window: int) -> None:
        self._model = model
        self._cutoffs = cutoffs
        self.k = max(cutoffs)  # labels to predict
        self._hits = np.zeros((window, len(cutoffs)), dtype=np.int32)
        self.n_seen = 0
        self._seen_at = time.perf_counter()  # not when a report is made: saving takes time, too
        self._mark = self._now()

    def add(self, y: list[list[Any]], predicted: TopLabels) -> None:
        """Count the correct labels among the best labels of each example."""
        rows = zip(y, predicted.labels.tolist(), predicted.probabilities.tolist(), strict=True)
        for labels, best, probabilities in rows:
            true = set(labels)
            # Rows with fewer than k labels are filled up with the probability 0.
            is_hit = [p > 0 and label in true for label, p in zip(best, probabilities, strict=True)]
            self._hits[self.n_seen % len(self._hits)] = [sum(is_hit[:k]) for k in self._cutoffs]
            self.n_seen += 1
        self._seen_at = time.perf_counter()

    def report(self, *, mark: bool = True) -> Report:
        """Return the figures now; new labels and speed are counted from the last report with `mark`."""
        (n_before, n_labels_before, then), (n_seen, n_labels, now) = self._mark, self._now()
        hits = self._hits[: self.n_seen].mean(axis=0) if self.n_seen else self._hits[0]
        n_new_labels = max(n_labels - n_labels_before, 0)
        if mark:
            self._mark = n_seen, n_labels, now
        return {
            "examples": self._model.n_examples_,
            **{f"P@{k}": round(float(hit) / k, 6) for k, hit in zip(self._cutoffs, hits, strict=True)},
            "labels": n_labels,
            "new_labels_per_thousand": round(1000 * n_new_labels / max(n_seen - n_before, 1), 3),
            "memory_bytes": self._model.memory_["total"],
            "examples_per_second": round((n_seen - n_before) / max(now - then, 1e-9), 1),
        }

    def _now(self) -> tuple[int, int, float]:
        return self.n_seen, getattr(self._model, "n_labels_", 0), self._seen_at

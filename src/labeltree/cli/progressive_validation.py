"""Progressive validation: how well a model predicts examples before it learns them, as `learn` reports."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from labeltree.cli.figures import bytes_text
from labeltree.model.top_labels import TopLabels


@dataclass(frozen=True)
class Report:
    """The figures at one point of the stream; `precision` is from 0 to 1, over the moving window."""

    n_examples: int
    precision: dict[str, float]
    n_labels: int
    new_labels_per_thousand: float
    memory_bytes: int
    examples_per_second: float

    def to_json(self) -> dict[str, Any]:
        return {
            "examples": self.n_examples,
            **{name: round(value, 6) for name, value in self.precision.items()},
            "labels": self.n_labels,
            "new_labels_per_thousand": round(self.new_labels_per_thousand, 3),
            "memory_bytes": self.memory_bytes,
            "examples_per_second": round(self.examples_per_second, 1),
        }

    def to_texts(self) -> dict[str, str]:
        """Return the figures as texts, by the titles of their columns."""
        return {
            "examples": f"{self.n_examples:,}",
            **{name: f"{100 * value:.2f}" for name, value in self.precision.items()},
            "labels": f"{self.n_labels:,}",
            "new/1000": f"{self.new_labels_per_thousand:.1f}",
            "memory": bytes_text(self.memory_bytes),
            "examples/s": f"{self.examples_per_second:,.0f}",
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
        n_seen, n_labels, seconds = now = self._now()
        n_new = max(n_seen - self._mark[0], 1)
        hits = self._hits[: self.n_seen].mean(axis=0) if self.n_seen else self._hits[0]
        precision = {f"P@{k}": float(hit) / k for k, hit in zip(self._cutoffs, hits, strict=True)}
        report = Report(
            n_examples=self._model.n_examples_,
            precision=precision,
            n_labels=n_labels,
            new_labels_per_thousand=1000 * max(n_labels - self._mark[1], 0) / n_new,
            memory_bytes=self._model.memory_["total"],
            examples_per_second=(n_seen - self._mark[0]) / max(seconds - self._mark[2], 1e-9),
        )
        if mark:
            self._mark = now
        return report

    def _now(self) -> tuple[int, int, float]:
        return self.n_seen, getattr(self._model, "n_labels_", 0), self._seen_at

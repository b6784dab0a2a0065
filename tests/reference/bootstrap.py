"""The paired bootstrap once more, slow and obvious: draw rows, measure both models on them, subtract."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sklearn.metrics
from sklearn.preprocessing import MultiLabelBinarizer

Rows = Sequence[Sequence[Any]]
Metric = Callable[[Rows, Rows], float]


def bootstrap_differences(
    truth: Rows, first: Rows, second: Rows, metric: Metric, n_resamples: int, seed: int
) -> np.ndarray:
    random, n_rows = np.random.default_rng(seed), len(truth)
    differences = []
    for _ in range(n_resamples):
        drawn = random.integers(n_rows, size=n_rows).tolist()
        y = [truth[i] for i in drawn]
        differences.append(metric(y, [second[i] for i in drawn]) - metric(y, [first[i] for i in drawn]))
    return np.array(differences)


def f1(average: str) -> Metric:
    """scikit-learn's F1 of the labels that occur."""

    def measure(truth: Rows, predicted: Rows) -> float:
        binarizer = MultiLabelBinarizer().fit([*truth, *predicted])
        y_true, y_pred = binarizer.transform(truth), binarizer.transform(predicted)
        return float(sklearn.metrics.f1_score(y_true, y_pred, average=average, zero_division=0))

    return measure

"""The predicted labels of rows, best first, as `predict` and `tag` print them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree.cli.label_names import LabelNames
from labeltree.decisions.decision import HALF
from labeltree.model.label_matrix import decided_labels


class PredictedLabels(NamedTuple):
    """Labels with positive probabilities: those of row i are at the places from ``indptr[i]`` to ``indptr[i + 1]``."""

    indptr: NDArray[np.int64]
    labels: NDArray[Any]
    probabilities: NDArray[np.float32]

    def rows(self) -> list[list[tuple[Any, float]]]:
        """Return the labels of each row with their probabilities."""
        pairs = list(zip(self.labels.tolist(), self.probabilities.tolist(), strict=True))
        return [pairs[begin:end] for begin, end in pairwise(self.indptr.tolist())]

    @classmethod
    def joined(cls, parts: Sequence[PredictedLabels]) -> PredictedLabels:
        """Return the labels of the rows of all parts.

        Examples
        --------
        >>> one = PredictedLabels(np.array([0, 2]), np.array(["cat", "pet"]), np.array([0.9, 0.5]))
        >>> PredictedLabels.joined([one, one]).rows()
        [[('cat', 0.9), ('pet', 0.5)], [('cat', 0.9), ('pet', 0.5)]]
        """
        sizes = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.probabilities for part in parts]),
        )


def predictor(
    model: Any, k: int | None, threshold: float | None, label_weight: Any = None
) -> Callable[[Any, Any], PredictedLabels]:
    """Return the question to a model and rows that the options ask; the model decides if they do not rank labels."""
    is_ranked = any(option is not None for option in (k, threshold, label_weight))
    if is_ranked or model.decision_ is HALF:
        return partial(best_labels, k=k or 5, threshold=threshold or 0.0, label_weight=label_weight)
    return chosen_labels


def best_labels(model: Any, X: Any, k: int, threshold: float, label_weight: Any = None) -> PredictedLabels:
    """Return the k best labels of each row, without those below the threshold."""
    labels, probabilities = model.predict_topk(X, k, label_weight=label_weight, threshold=threshold)
    return _positive(np.arange(len(labels) + 1) * labels.shape[1], labels.ravel(), probabilities.ravel())


def chosen_labels(model: Any, X: Any) -> PredictedLabels:
    """Return the labels that the model's decision chooses, as `predict` does in Python."""
    trained = model.model_
    with trained.reading():
        found = decided_labels(trained, trained.read(X), model.make_search())
        return _positive(found.indptr, trained.label_index.classes[found.indices], found.data)


def labels_to_json(row: list[tuple[Any, float]], names: LabelNames) -> list[dict[str, Any]]:
    """Return the labels of a row with their names, if they have any, and probabilities in six digits."""
    return [
        {"label": label, **names.to_json(label), "probability": float(f"{probability:.6g}")}
        for label, probability in row
    ]


def _positive(
    indptr: NDArray[Any], labels: NDArray[Any], probabilities: NDArray[np.float32]
) -> PredictedLabels:
    """Leave out labels with the probability 0, which also fill up rows of fewer than k labels."""
    found = probabilities > 0
    n_before = np.concatenate([[0], np.cumsum(found)])
    return PredictedLabels(n_before[indptr], labels[found], probabilities[found])

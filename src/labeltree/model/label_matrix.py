"""Answers of a forest as matrices with a column for each label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.decisions.decision import read_truth
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.labels.weights import ranking_weight
from labeltree.model.forest import Features, Search, TopAnswer
from labeltree.model.model import Model
from labeltree.validation import check_same_rows
from labeltree.wording import count_text

#: Maximum size of the array that `predict_proba` returns after training on a 1-d y.
DENSE_BYTES = 2**32


def as_matrix(answer: TopAnswer, n_labels: int) -> Any:
    """Return the k best labels of every row as a sparse matrix, its rows best first."""
    indices, probabilities = answer
    found = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return sp.csr_matrix((probabilities[found], indices[found], indptr), shape=(len(indices), n_labels))


def all_above(
    model: Model, features: Features, search: Search, evaluations: NDArray[np.int64] | None = None
) -> Any:
    """Return all labels that reach the thresholds of the search as a sparse matrix, its rows best first."""
    indptr, labels, values = model.forest.above(features, search, evaluations)
    return sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, len(model.label_index)))


def shares_of_classes(found: Any) -> NDArray[np.float32]:
    """Return probabilities of classes that exclude each other as an array whose rows sum to 1."""
    sums = np.asarray(found.sum(axis=1)).ravel()
    found.data /= np.repeat(np.where(sums > 0, sums, 1), np.diff(found.indptr))
    shares: NDArray[np.float32] = found.toarray()
    shares[shares.sum(axis=1) == 0] = 1 / shares.shape[1]
    return shares


def check_fits(n_rows: int, n_labels: int) -> None:
    """Raise `ValueError` if an array with the probabilities of all classes would be too large."""
    n_bytes = n_rows * n_labels * np.dtype(np.float32).itemsize
    if n_bytes > DENSE_BYTES:
        raise ValueError(
            f"an array with the probabilities of {count_text(n_rows, 'row')} and {count_text(n_labels, 'class')} has "
            f"{n_bytes / 2**30:.1f} GiB, more than {DENSE_BYTES / 2**30:g} GiB: use predict_topk(X, k), which returns "
            "the top k classes of each row, or ask for fewer rows at a time"
        )


def decided_labels(model: Model, features: Features, search: Search) -> Any:
    """Return the labels that the model's decision chooses, as a sparse matrix, its rows best first.

    `search` has the allowed labels and the parameters of the search; k and thresholds come from the decision.
    """
    decision, n_labels = model.decision, len(model.label_index)
    if decision.k is not None:
        weight = decision.label_weight
        wanted = search.replace(
            k=min(decision.k, n_labels),
            label_weight=None if weight is None else ranking_weight(weight, model, search.allowed),
        )
        return as_matrix(model.forest.top_k(features, wanted), n_labels)
    threshold, label_threshold = decision.bounds()
    wanted = search.replace(k=n_labels, threshold=threshold, label_threshold=label_threshold)
    return all_above(model, features, wanted)


def validation_pairs(model: Model, X: Any, y: Any, search: Search, floor: float) -> ValidationPairs:
    """Return the labels of each row with at least the probability `floor`, beside the true ones."""
    features = model.read(X)
    truth, n_unknown = read_truth(y, model.label_index)
    check_same_rows(features.n_rows, truth.n_rows)
    scores = all_above(model, features, search.replace(k=len(model.label_index), threshold=floor))
    return ValidationPairs.of(scores, truth, n_unknown, floor)

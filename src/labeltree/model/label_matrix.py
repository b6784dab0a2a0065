"""Answers of a forest as sparse matrices with a column for each label."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from labeltree.decisions.decision import read_truth
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.labels.weights import ranking_weight
from labeltree.model.forest import Features, Search, TopAnswer
from labeltree.model.model import Model
from labeltree.validation import check_same_rows


def as_matrix(answer: TopAnswer, n_labels: int) -> Any:
    """Return the k best labels of every row as a sparse matrix, its rows best first."""
    indices, probabilities = answer
    found = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return sp.csr_matrix((probabilities[found], indices[found], indptr), shape=(len(indices), n_labels))


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
    indptr, labels, values = model.forest.above(features, wanted)
    return sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, n_labels))


def validation_pairs(model: Model, X: Any, y: Any, search: Search, floor: float) -> ValidationPairs:
    """Return the labels of each row with at least the probability `floor`, beside the true ones."""
    features = model.read(X)
    truth, n_unknown = read_truth(y, model.label_index)
    check_same_rows(features.n_rows, truth.n_rows)
    n_labels = len(model.label_index)
    indptr, labels, values = model.forest.above(features, search.replace(k=n_labels, threshold=floor))
    scores = sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, n_labels))
    return ValidationPairs.of(scores, truth, n_unknown, floor)

"""The labels that a model has been told to predict, with their probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labeltree.metrics.judgement import top_positions
from labeltree.model.top_labels import TopLabels


def decided_labels(model: Any, X: Any) -> TopLabels:
    """What `predict` gives, best first; rows are filled up with the probability 0."""
    decision = model.decision_
    if decision.k is not None:
        top: TopLabels = model.predict_topk(X, decision.k, label_weight=decision.label_weight)
        return top
    found = csr_matrix(model.predict_proba(X, None, decision.threshold))
    sizes = np.diff(found.indptr).astype(np.int64)
    at = top_positions(sizes, found.data, int(sizes.max()))
    # The position -1, no more labels, fetches the last place.
    return TopLabels(
        model.classes_[np.append(found.indices, 0)[at]], np.append(found.data, np.float32(0))[at]
    )

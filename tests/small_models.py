"""Models that are trained in milliseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from labeltree import LabelTreeClassifier

N_ROWS, N_FEATURES, N_LABELS = 60, 20, 12
NAMES = [f"läbel {i}" for i in range(N_LABELS)]


def small_data(seed: int = 0) -> tuple[sp.csr_matrix, list[list[str]]]:
    """Rows, and one to three labels for each that have to do with its features."""
    rng = np.random.default_rng(seed)
    X = sp.random(N_ROWS, N_FEATURES, density=0.3, format="csr", dtype=np.float32, random_state=rng)
    best = np.argsort(-(X @ rng.standard_normal((N_FEATURES, N_LABELS))), axis=1)
    return X, [[NAMES[label] for label in row[: 1 + i % 3]] for i, row in enumerate(best)]


def small_model(seed: int = 0, **parameters: Any) -> LabelTreeClassifier:
    """A model of two small trees, with string labels."""
    shape = {"n_trees": 2, "tree": "kmeans", "arity": 2, "max_leaves": 3, "frequent_share": 0.0}
    defaults = {**shape, "prune": 0.01, "random_state": seed}
    if "node_estimator" not in parameters:
        defaults["weights"] = "float32"
    return LabelTreeClassifier(**{**defaults, **parameters}).fit(*small_data(seed))

"""Models of labels that follow from features in part only: how one decides makes a difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier

N_LABELS = 15


def noisy_data(n_rows: int = 240, seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Labels that follow from features in part only, some of them rare."""
    rng = np.random.default_rng(seed)
    hidden = np.random.default_rng(99).standard_normal((25, N_LABELS)) + np.linspace(-0.2, -1.2, N_LABELS)
    X = sp.random(n_rows, 25, density=0.3, format="csr", dtype=np.float32, random_state=rng)
    chance = 1 / (1 + np.exp(1 - 2 * (X @ hidden)))
    return X, sp.csr_matrix((rng.random(chance.shape) < chance).astype(np.int64))


def batch_model(**parameters: Any) -> LabelTreeClassifier:
    defaults = {"loss": "logistic", "arity": 3, "max_leaves": 4, "random_state": 0}
    return LabelTreeClassifier(**{**defaults, **parameters})


def online_model() -> OnlineLabelTreeClassifier:
    return OnlineLabelTreeClassifier(arity=3, epochs=2, random_state=0)


MODELS = [batch_model, online_model]
TRAINED, VALID = noisy_data(), noisy_data(160, seed=1)


def as_lists(y: sp.csr_matrix) -> list[list[str]]:
    return [[f"label {j}" for j in row.indices] for row in y]

"""Golden models whose labels have readable names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.golden.label_trees import N_LABELS, features

from labeltree import (
    FastXMLClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    mix,
)

#: The names of some labels of the models of version 8; the others have none.
LABEL_NAMES = {"T1": "cats", "T2": "dögs and puppies", "T4": "ünïcode: 猫"}


def named_models() -> tuple[np.ndarray, dict[str, Any]]:
    """Rows, and models of version 8: some of their labels have names."""
    X, y = features(), [[f"T{label}"] for label in np.repeat(np.arange(N_LABELS), 2)]
    tree = LabelTreeClassifier(random_state=0, prune=0.01).fit(X, y)
    models = {
        "label-tree": tree,
        "fastxml": FastXMLClassifier(n_trees=2, max_leaf=2, random_state=0).fit(X, y),
        "online": OnlineLabelTreeClassifier(random_state=0).fit(X, y),
        "mix": mix([tree, OneVsRestClassifier(random_state=0).fit(X, y)]),
    }
    for model in models.values():
        model.label_names_ = LABEL_NAMES
    return X, models


def make_named(path: Path, model: Any, X: np.ndarray) -> dict[str, Any]:
    """Save a model; return what it answers."""
    model.save(path)
    top = model.predict_topk(X, 3)
    return {
        "X": X.tolist(),
        "estimator": type(model).__name__,
        "label_names": LABEL_NAMES,
        "labels": top.labels.tolist(),
        "probabilities": top.probabilities.tolist(),
    }

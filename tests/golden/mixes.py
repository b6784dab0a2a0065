"""Golden mixes of several models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labeltree import FastXMLClassifier, LabelTreeClassifier, MixedModel, OneVsRestClassifier, mix


def mixes() -> tuple[np.ndarray, dict[str, MixedModel]]:
    """Rows, and mixes by name."""
    rng = np.random.default_rng(7)
    X = np.round(rng.random((40, 6)), 3).astype(np.float32)
    names = ["ant", "bee", "cat", "dog", "emu"]
    y = [[names[j] for j in np.argsort(-row[:5])[: 1 + i % 2]] for i, row in enumerate(X)]
    shape = {"arity": 2, "max_leaves": 2, "frequent_share": 0.0}
    tree = LabelTreeClassifier(**shape, random_state=0).fit(X, y).calibrate(X, y, method="platt")
    flat = OneVsRestClassifier(random_state=0).fit(X, y)
    voting = FastXMLClassifier(n_trees=2, max_leaf=4, random_state=0).fit(X, y)
    return X[:5], {
        "three-kinds": mix([tree, flat, voting], [1.0, 2.0, 0.5]),
        "decided": mix([tree, flat]).decide_for("macro_f1", X, y),
    }


def make_mix(path: Path, model: MixedModel, X: np.ndarray) -> dict[str, Any]:
    """Save a mix; return what it answers."""
    model.save(path)
    top = model.predict_topk(X, 3)
    return {
        "X": X.tolist(),
        "classes": model.classes_.tolist(),
        "weights": model.weights_,
        "members": [type(member).__name__ for member in model.members_],
        "labels": top.labels.tolist(),
        "probabilities": top.probabilities.tolist(),
        "predicted": model.predict(X),
    }

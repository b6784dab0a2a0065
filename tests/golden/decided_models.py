"""Golden models, batch and online, that decide for a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.golden.label_trees import Case, cases, features
from tests.golden.online_trees import online_cases, rows_of

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier


def decided_cases() -> dict[str, tuple[Case, str]]:
    """Models of version 4, batch and online, and what they decide for."""
    return {
        "one-threshold": (cases()["text"], "micro_f1"),
        "threshold-per-label": (cases()["int8"], "macro_f1"),
        "top-k": (cases()["integers"], "precision@2"),
        "online-one-threshold": (online_cases()["map-sgd"], "micro_f1"),
        "online-threshold-per-label": (online_cases()["named-features"], "macro_f1"),
    }


def make_decided(path: Path, decided: tuple[Case, str]) -> dict[str, Any]:
    """Train a model, let it decide and save it; return what it predicts."""
    case, metric = decided
    model: Any
    if path.name.startswith("online"):
        rows, model = rows_of(case), OnlineLabelTreeClassifier(random_state=0, **case.parameters)
    else:
        rows, model = features(), LabelTreeClassifier(**{"prune": 0.01, **case.parameters})
    model.fit(rows, case.y).decide_for(metric, rows, case.y).save(path)
    found = model.predict(rows)
    return {
        "metric": metric,
        "threshold": np.asarray(model.decision_.threshold).tolist(),
        "k": model.decision_.k,
        "predicted": found if isinstance(found, list) else found.toarray().tolist(),
    }

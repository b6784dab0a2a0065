"""Golden models of trees over examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import scipy.sparse as sp
from tests.golden.label_trees import Case, cases, features, mixed_features

from labeltree import FastXMLClassifier, PfastreXMLClassifier


def example_cases() -> dict[str, Case]:
    """Models of version 5: trees over examples."""
    small = {"n_trees": 4, "C": 20.0, "max_leaf": 2, "random_state": 0}
    return {
        "fastxml": Case(cases()["float32"].y, parameters=small),
        "fastxml-text": Case(cases()["text"].y, parameters=small, with_feature_names=True),
        "fastxml-decided": Case(cases()["integers"].y, parameters=small),
        "pfastrexml": Case(cases()["text"].y, parameters={**small, "gamma": 10.0, "alpha": 0.7}),
        "pfastrexml-mixed": Case(cases()["multiclass-text"].y, parameters=small, mixed=True),
    }


def make_example_trees(path: Path, case: Case) -> dict[str, Any]:
    """Train and save a model; return what it answers."""
    X = mixed_features() if case.mixed else features()
    names = [f"feature {j}" for j in range(X.shape[1])]
    rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
    kind = PfastreXMLClassifier if path.name.startswith("pfastrexml") else FastXMLClassifier
    model: Any = kind(**case.parameters).fit(rows, case.y)
    if path.name.endswith("decided"):
        model.decide_for("macro_f1", rows, case.y)
    model.save(path)
    found = model.predict_topk(rows, k=3)
    predicted = model.predict(rows)
    return {
        "estimator": kind.__name__,
        "classes": model.classes_.tolist(),
        "label_counts": model.label_counts_.tolist(),
        "nodes": [shape.n_nodes for shape in model.example_trees_.shapes()],
        "feature_names": names if case.with_feature_names else None,
        "X": X.tolist(),
        "labels": found.labels.tolist(),
        "probabilities": found.probabilities.tolist(),
        "predicted": predicted.toarray().tolist() if sp.issparse(predicted) else list(predicted),
    }

"""Golden models of learned word vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone
from tests.golden.label_trees import Case, cases, features, mixed_features

from labeltree import ExtremeTextClassifier, FastTextClassifier, LabelTree


def vector_cases() -> dict[str, tuple[Any, Case]]:
    """Models of version 10: word vectors, untrained classifiers and what they are trained on."""
    small = {"dimension": 5, "random_state": 0, "batch_size": 4}
    words = ExtremeTextClassifier(
        **small, epochs=80, dropout=0.0, arity=2, max_leaves=2, frequent_share=0.0, vector_type="float32"
    )
    plain = FastTextClassifier(**small, epochs=80, learning_rate=0.3, vector_type="float32")
    given = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])
    texts, indicator = cases()["text"].y, cases()["float32"].y
    return {
        "extremetext-int8": (words, Case(texts, "int8", with_feature_names=True)),
        "extremetext-bfloat16": (words, Case(cases()["integers"].y, "bfloat16", mixed=True)),
        "extremetext-given-tree": (
            clone(words).set_params(tree=given, loss="softmax", pooling="mean"),
            Case(cases()["multiclass-text"].y),
        ),
        "extremetext-calibrated": (words, Case(texts, "int8", calibration="isotonic")),
        "fasttext-softmax": (plain, Case(cases()["multiclass-int32"].y, "int8")),
        "fasttext-hs": (clone(plain).set_params(loss="hs"), Case(indicator)),
        "fasttext-ova": (clone(plain).set_params(loss="ova"), Case(texts, "bfloat16")),
    }


def make_vectors(path: Path, untrained_case: tuple[Any, Case]) -> dict[str, Any]:
    """Train and save a model; return what it answers."""
    untrained, case = untrained_case
    X = mixed_features() if case.mixed else features()
    names = [f"feature {j}" for j in range(X.shape[1])]
    rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
    trained = untrained.fit(rows, case.y)
    if case.calibration is not None:
        trained.calibrate(rows, case.y, method=case.calibration)
    trained.save(path, weights=case.weights)
    model = type(trained).load(path)
    found, predicted = model.predict_topk(rows, k=3), model.predict(rows)
    return {
        "estimator": type(model).__name__,
        "weights": case.weights,
        "classes": model.classes_.tolist(),
        "label_counts": model.label_counts_.tolist(),
        "tree": model.tree_.to_nested(),
        "feature_names": names if case.with_feature_names else None,
        "X": X.tolist(),
        "hidden": model.transform(rows).tolist(),
        "labels": found.labels.tolist(),
        "probabilities": found.probabilities.tolist(),
        "predicted": predicted.toarray().tolist()
        if sp.issparse(predicted)
        else np.asarray(predicted, object).tolist(),
    }

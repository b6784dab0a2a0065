"""Golden models of label trees, and what other golden models are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from labeltree import LabelTree, LabelTreeClassifier

N_FEATURES = 8
N_LABELS = 6


@dataclass(frozen=True)
class Case:
    """What a golden model is trained on, with which parameters, and how its weights are stored."""

    y: Any
    weights: str = "float32"
    parameters: dict[str, Any] = field(default_factory=dict)
    with_feature_names: bool = False
    mixed: bool = False
    calibration: str | None = None


def features() -> np.ndarray:
    """Twelve rows, two for each label, apart enough to be told from each other."""
    rng = np.random.default_rng(1)
    X = np.repeat(np.eye(N_LABELS, N_FEATURES), 2, axis=0) + 0.2 * rng.random((2 * N_LABELS, N_FEATURES))
    return X.astype(np.float32).round(3)


def mixed_features() -> np.ndarray:
    """The features, and beside them eight that are mostly 0."""
    rng = np.random.default_rng(2)
    sparse = rng.random((2 * N_LABELS, 8)) * (rng.random((2 * N_LABELS, 8)) < 0.2)
    # What is dense beside something sparse has numbers of both signs.
    return np.hstack([sparse.round(3), features() - 0.1]).astype(np.float32).round(3)


def cases() -> dict[str, Case]:
    """The golden models by name: the weight types, and the kinds of labels."""
    of_row = np.repeat(np.arange(N_LABELS), 2)
    indicator = sp.csr_matrix((np.ones(len(of_row)), (np.arange(len(of_row)), of_row)))
    texts = ["apple", "blåbær", "cherry, sour", "", "梅", "fig\nfresh"]
    two_trees = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0}
    given = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])

    def lists(labels: list[Any]) -> list[list[Any]]:
        return [[labels[i], labels[(i + 1) % N_LABELS]] for i in of_row]

    return {
        "float32": Case(indicator, "float32", two_trees),
        "bfloat16": Case(indicator, "bfloat16", two_trees),
        "int8": Case(indicator, "int8", two_trees),
        "dense": Case(indicator.toarray().astype(int)),
        "text": Case(lists(texts), with_feature_names=True),
        "integers": Case(lists([-5, 7, 40, 10**12, 3, 0])),
        "floats": Case(lists([0.5, -1.25, 1e300, 3.0, 0.1, 2.0])),
        "multiclass-text": Case(np.array(["a", "bb", "å", "梅", "eeeee", "f"])[of_row]),
        "multiclass-int32": Case(np.array([3, 1, 4, 15, 9, 26], dtype=np.int32)[of_row]),
        "multiclass-float64": Case(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])[of_row]),
        "multiclass-bool": Case(of_row > 2),
        "frequent-labels": Case(
            lists(texts), "float32", {"arity": 2, "max_leaves": 2, "frequent_share": 0.3}
        ),
        "given-tree-logistic": Case(indicator, "float32", {"tree": given, "loss": "logistic"}),
    }


def dense_cases() -> dict[str, Case]:
    """Models of version 2: some features are dense."""
    indicator = cases()["float32"].y
    two_trees = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0}
    return {
        "dense-float32": Case(indicator, "float32", two_trees),
        "dense-bfloat16": Case(indicator, "bfloat16", two_trees),
        "dense-int8": Case(indicator, "int8", two_trees),
        "mixed": Case(indicator, "float32", two_trees, mixed=True),
    }


def joint_cases() -> dict[str, Case]:
    """Models of version 2: some blocks are joint."""
    indicator = cases()["float32"].y
    joint = {"loss": "logistic", "siblings": "joint", "arity": 2, "max_leaves": 2, "random_state": 0}
    return {
        "joint-float32": Case(indicator, "float32", joint),
        "joint-bfloat16": Case(indicator, "bfloat16", joint),
        "joint-int8": Case(indicator, "int8", joint),
        "joint-mixed": Case(indicator, "int8", joint, mixed=True),
    }


def calibrated_cases() -> dict[str, Case]:
    """Models of version 4: they are calibrated."""
    joint = joint_cases()["joint-mixed"]
    narrow = {**joint.parameters, "frequent_share": 0.0}
    return {
        "calibrated-isotonic": replace(cases()["float32"], calibration="isotonic"),
        "calibrated-platt": replace(cases()["text"], calibration="platt"),
        "calibrated-joint": replace(joint, parameters=narrow, calibration="isotonic"),
    }


def reranked_cases() -> dict[str, Case]:
    """Models of version 9: label classifiers rank what the trees propose."""
    reranked = {"n_trees": 2, "arity": 2, "max_leaves": 2, "random_state": 0, "rerank": 3}
    indicator = cases()["float32"].y
    return {
        "reranked-float32": Case(indicator, "float32", reranked),
        "reranked-bfloat16": Case(indicator, "bfloat16", reranked),
        "reranked-int8": Case(indicator, "int8", reranked),
        "reranked-mixed": Case(indicator, "int8", reranked, mixed=True),
        "reranked-calibrated": Case(cases()["text"].y, "float32", reranked, calibration="isotonic"),
    }


def packed_cases() -> dict[str, Case]:
    """Models of version 13: the features of their blocks are packed."""
    two_trees = {**cases()["int8"].parameters, "prune": 0.0}
    texts = cases()["text"]
    return {
        "int8": Case(cases()["int8"].y, "int8", two_trees),
        "bfloat16": Case(cases()["int8"].y, "bfloat16", two_trees),
        "float32": replace(texts, parameters=two_trees),
        "mixed": Case(texts.y, "int8", two_trees, mixed=True),
        "joint-mixed": joint_cases()["joint-mixed"],
        "reranked": reranked_cases()["reranked-mixed"],
        "calibrated": replace(cases()["int8"], calibration="isotonic"),
    }


def make_label_tree(path: Path, case: Case) -> dict[str, Any]:
    """Train and save a model; return what it answers."""
    X = mixed_features() if case.mixed else features()
    names = [f"feature {j}" for j in range(X.shape[1])]
    rows = pd.DataFrame(X, columns=names) if case.with_feature_names else X
    model = LabelTreeClassifier(**{"prune": 0.01, "weights": case.weights, **case.parameters}).fit(
        rows, case.y
    )
    if case.calibration is not None:
        model.calibrate(rows, case.y, method=case.calibration)
    model.save(path, weights=case.weights)
    found = LabelTreeClassifier.load(path).predict_topk(rows, k=3)
    return {
        "classes": model.classes_.tolist(),
        "classes_dtype": model.classes_.dtype.str,
        "label_kind": model.label_kind_,
        "label_counts": model.label_counts_.tolist(),
        "n_samples_fit": model.n_samples_fit_,
        "trees": [tree.to_nested() for tree in model.trees_],
        "feature_names": names if case.with_feature_names else None,
        "X": X.tolist(),
        "labels": found.labels.tolist(),
        "probabilities": found.probabilities.tolist(),
    }

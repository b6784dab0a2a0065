"""Golden models of online trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.golden.label_trees import Case, cases, features

from labeltree import LabelTree, OnlineLabelTreeClassifier


def online_cases() -> dict[str, Case]:
    """Models of version 3: online trees, their weights in every form, by every learner."""
    texts, indicator = cases()["text"].y, cases()["float32"].y
    return {
        "map-adagrad": Case(texts, parameters={"arity": 2}),
        "map-sgd": Case(indicator, parameters={"arity": 3, "solver": "sgd", "policy": "best_fit"}),
        "dense-fobos": Case(cases()["integers"].y, parameters={"weights": "dense", "solver": "fobos"}),
        "hashed": Case(
            cases()["multiclass-text"].y,
            parameters={
                "weights": "hashed",
                "memory_mb": 0.005,
                "expected_labels": 10,
                "policy": "random",
                "arity": 2,
            },
        ),
        "shared": Case(
            indicator, parameters={"weights": "shared", "memory_mb": 0.01, "loss": "squared_hinge"}
        ),
        "named-features": Case(texts, with_feature_names=True),
    }


def later_online_cases() -> dict[str, Case]:
    """Models of version 9: online trees that save where AdaGrad starts."""
    texts = cases()["text"].y
    return {
        "map-adagrad": Case(texts, parameters={"arity": 2}),
        "initial-accumulator": Case(texts, parameters={"loss": "squared_hinge", "initial_accumulator": 0.25}),
    }


def given_tree_cases() -> dict[str, Case]:
    """Models of version 12: online trees that start with a given tree, or take no new labels."""
    indicator = cases()["float32"].y
    fixed = {"tree": LabelTree.from_nested([[0, 3], [1, [2, 4]], 5]), "policy": "fixed"}
    return {
        "fixed": Case(indicator, parameters=fixed),
        "grown": Case(
            cases()["integers"].y, parameters={"tree": LabelTree.from_nested([[0, 2], 1]), "arity": 3}
        ),
        "fixed-large-accumulator": Case(indicator, parameters={**fixed, "loss": "squared_hinge"}),
    }


def several_tree_cases() -> dict[str, Case]:
    """Models of version 13: several online trees."""
    indicator, texts = cases()["float32"].y, cases()["text"].y
    trees = [LabelTree.from_nested(nested) for nested in ([[0, 3], [1, [2, 4]], 5], [[0, 1, 2], [3, 4, 5]])]
    shared = {"weights": "shared", "memory_mb": 0.02, "n_trees": 2, "policy": "random", "arity": 2}
    return {
        "random": Case(texts, parameters={"n_trees": 3, "policy": "random", "arity": 2}),
        "shared": Case(indicator, parameters=shared),
        "given": Case(indicator, parameters={"n_trees": 2, "tree": trees, "policy": "fixed"}),
    }


def rows_of(case: Case) -> Any:
    """What an online model learns: rows of an array, or dictionaries."""
    if not case.with_feature_names:
        return features()
    return [{f"feature {j}": value for j, value in enumerate(row)} for row in features().tolist()]


def make_online_tree(path: Path, case: Case) -> dict[str, Any]:
    """Train and save a model; return what it answers then, and after it has learned more."""
    model = OnlineLabelTreeClassifier(random_state=0, **case.parameters)
    for _ in range(5):
        model.partial_fit(rows_of(case), case.y)
    model.save(path)
    then = model.predict_topk(rows_of(case), k=3)
    model.partial_fit(rows_of(case), case.y)
    later = model.predict_topk(rows_of(case), k=3)
    trees = [tree.to_nested() for tree in model.trees_]
    return {
        "classes": model.classes_.tolist(),
        "n_examples": model.n_examples_,
        **({"tree": trees[0]} if len(trees) == 1 else {"trees": trees}),
        "labels": [then.labels.tolist(), later.labels.tolist()],
        "probabilities": [then.probabilities.tolist(), later.probabilities.tolist()],
    }

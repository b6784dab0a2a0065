"""Weights are rounded at the end of `fit`: what is trained answers like what is saved, loaded and pickled."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from tests.documents import documents

from labeltree import (
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
)
from labeltree.model_file import load, read_info

TYPES = ("int8", "bfloat16", "float32")
X, Y = documents(1200, 80, 30, seed=4)
DENSE = np.random.default_rng(0).normal(size=(X.shape[0], 9)).astype(np.float32)
SMALL = {"arity": 3, "max_leaves": 5, "random_state": 0}

ESTIMATORS: dict[str, Any] = {
    "two trees": LabelTreeClassifier(2, **SMALL),
    "joint": LabelTreeClassifier(
        loss="logistic", siblings="joint", arity=3, max_leaves=4, frequent_share=0.0, random_state=0
    ),
    "adagrad": LabelTreeClassifier(solver="adagrad", **SMALL),
    "reranked": LabelTreeClassifier(rerank=5, **SMALL),
    "softmax": HierarchicalSoftmaxClassifier(**SMALL),
    "binary softmax": HierarchicalSoftmaxClassifier(arity=2, max_leaves=2, random_state=0),
    "one-vs-rest": OneVsRestClassifier(random_state=0),
    "hard negatives": OneVsRestClassifier(negatives="tree", random_state=0),
    "max-margin": OneVsRestClassifier(solver="max_margin", random_state=0),
}


def answers(model: Any, rows: Any = X) -> list[Any]:
    top = model.predict_topk(rows, k=4)
    return [top.labels.tolist(), top.probabilities.tolist()]


def trained(name: str, weights: str, rows: Any = X, **parameters: Any) -> Any:
    return copy.deepcopy(ESTIMATORS[name]).set_params(weights=weights, **parameters).fit(rows, Y)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("weights", TYPES)
def test_trained_saved_loaded_and_pickled_models_answer_alike(
    name: str, weights: str, tmp_path: Path
) -> None:
    model = trained(name, weights)
    assert {tree.weight_type for tree in model.weights_} == {weights}
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model", verify=True)
    assert read_info(tmp_path / "model").weights == loaded.weights == weights
    for twin in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert answers(twin) == answers(model)
        for one, other in zip(twin.weights_, model.weights_, strict=True):
            assert one.arrays.keys() == other.arrays.keys()
            for key, array in one.arrays.items():
                np.testing.assert_array_equal(array, other.arrays[key], key)


@pytest.mark.parametrize(
    "estimator", [LabelTreeClassifier, HierarchicalSoftmaxClassifier, OneVsRestClassifier]
)
def test_int8_is_the_default(estimator: type[Any]) -> None:
    assert estimator().weights == "int8"


@pytest.mark.parametrize("name", ["two trees", "joint", "softmax", "one-vs-rest"])
@pytest.mark.parametrize("weights", ["int8", "bfloat16"])
def test_rounding_in_fit_is_rounding_in_save(name: str, weights: str, tmp_path: Path) -> None:
    model, exact = trained(name, weights, (X, DENSE)), trained(name, "float32", (X, DENSE))
    exact.save(tmp_path / "model", weights=weights)
    assert answers(load(tmp_path / "model"), (X, DENSE)) == answers(model, (X, DENSE))
    assert answers(exact, (X, DENSE)) != answers(model, (X, DENSE))


@pytest.mark.parametrize("weights", TYPES)
@pytest.mark.parametrize("other", [{"memory_gb": 4}, {"n_jobs": 2}, {"checkpoint": True}])
def test_the_model_does_not_depend_on_how_it_is_trained(
    weights: str, other: dict[str, Any], tmp_path: Path
) -> None:
    if "checkpoint" in other:
        other = {"checkpoint": tmp_path / "parts"}
    for name in ("two trees", "joint"):
        model, twin = trained(name, weights), trained(name, weights, **other)
        other = {key: value for key, value in other.items() if key != "checkpoint"}
        assert answers(twin) == answers(model)
        for one, expected in zip(twin.weights_, model.weights_, strict=True):
            for key, array in expected.arrays.items():
                np.testing.assert_array_equal(one.arrays[key], array, key)


def test_a_checkpoint_of_other_weights_is_refused(tmp_path: Path) -> None:
    trained("two trees", "int8", checkpoint=tmp_path / "parts")
    with pytest.raises(ValueError, match=r"weights='int8' instead of 'float32'"):
        trained("two trees", "float32", checkpoint=tmp_path / "parts")


def test_a_checkpoint_of_one_vs_rest_serves_all_types(tmp_path: Path) -> None:
    trained("one-vs-rest", "float32", checkpoint=tmp_path / "parts")
    assert answers(trained("one-vs-rest", "int8", checkpoint=tmp_path / "parts")) == answers(
        trained("one-vs-rest", "int8")
    )


def test_added_trees_have_the_type_of_the_model(tmp_path: Path) -> None:
    together = trained("two trees", "int8")
    alone = LabelTreeClassifier(1, **SMALL).fit(X, Y)
    alone.save(tmp_path / "model", weights="float32")
    assert answers(alone.add_trees(X, Y)) == answers(together)
    larger = load(tmp_path / "model").add_trees(X, Y)
    assert [tree.weight_type for tree in larger.weights_] == ["float32", "float32"]
    with pytest.raises(ValueError, match=r"weights of one type: set weights to 'float32'.* got 'int8'"):
        larger.set_params(weights="int8").add_trees(X, Y)


def test_online_models_learn_in_float32() -> None:
    batch = LabelTreeClassifier(loss="logistic", link="sigmoid", **SMALL).fit(X, Y)
    online = OnlineLabelTreeClassifier.from_batch(batch)
    np.testing.assert_allclose(answers(online.freeze(prune=0))[1], answers(batch)[1], atol=1e-4)
    online.partial_fit(X[:50], Y[:50])
    frozen = online.freeze(prune=0)
    assert frozen.weights == frozen.weights_[0].weight_type == "float32"
    np.testing.assert_allclose(answers(frozen)[1], answers(online)[1], atol=1e-5)
    assert online.freeze(weights="int8").weights_[0].weight_type == "int8"


def test_explanations_add_up_to_the_scores() -> None:
    model = trained("two trees", "int8")
    label = model.predict_topk(X[0], k=1).labels[0, 0]
    for path in model.explain(X[0], label, n_features=1000).paths:
        for step in path:
            total = step.bias + sum(contribution.amount for contribution in step.contributions)
            assert total == pytest.approx(step.score, abs=1e-5)


def test_bad_types_are_refused() -> None:
    with pytest.raises(ValueError, match="'weights' must be one of 'float32', 'bfloat16', 'int8'"):
        LabelTreeClassifier(weights="int4").fit(X, Y)
    with pytest.raises(ValueError, match="weights is a parameter of the linear node classifiers"):
        LabelTreeClassifier(node_estimator=DummyClassifier(), weights="float32").fit(X, Y)

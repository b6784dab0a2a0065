"""Trees that are added later are those that would have been trained from the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.documents import documents

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.training import linear_learner


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


X, Y = documents(120, 60, 20)
SHAPE = {"max_leaves": 3, "arity": 4, "frequent_share": 0, "random_state": 3}


def same(a: LabelTreeClassifier, b: LabelTreeClassifier) -> None:
    assert a.trees_ == b.trees_
    for one, other in zip(a.weights_, b.weights_, strict=True):
        for name, array in one.arrays.items():
            np.testing.assert_array_equal(array, other.arrays[name])
    assert a.training_report_ == b.training_report_
    for answer, other_answer in zip(a.predict_topk(X), b.predict_topk(X), strict=True):
        np.testing.assert_array_equal(answer, other_answer)


@pytest.mark.parametrize("parameters", [{}, {"loss": "logistic"}, {"solver": "sgd"}, {"C": "auto"}])
def test_now_or_later(parameters: dict[str, Any]) -> None:
    model = LabelTreeClassifier(**SHAPE, **parameters).fit(X, Y)
    later = model.add_trees(X, Y).add_trees(X, Y, n_trees=2)
    assert later is model
    assert model.n_trees == 4
    same(model, LabelTreeClassifier(4, **SHAPE, **parameters).fit(X, Y))


def test_trees_of_other_kinds(tmp_path: Path) -> None:
    given = LabelTree.flat(20)
    model = LabelTreeClassifier(tree_weight=[2.0], **SHAPE).fit(X, Y).add_trees(X, Y, 1, tree="huffman")
    model.add_trees(X, Y, 2, tree=[given, "random"])
    assert model.tree == ["unbalanced_kmeans", "huffman", given, "random"]
    assert model.tree_weight == [2.0, 1.0, 1.0, 1.0]
    same(model, LabelTreeClassifier(4, tree=model.tree, tree_weight=model.tree_weight, **SHAPE).fit(X, Y))
    model.save(tmp_path / "model")
    same(model, LabelTreeClassifier.load(tmp_path / "model"))


def test_to_a_loaded_model(tmp_path: Path) -> None:
    LabelTreeClassifier(**SHAPE).fit(X, Y).save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    same(loaded.add_trees(X, Y), LabelTreeClassifier(2, link="exp4", **SHAPE).fit(X, Y))


@pytest.mark.parametrize("weights", ["int8", "bfloat16"])
def test_to_a_model_that_is_stored_smaller(tmp_path: Path, weights: str) -> None:
    LabelTreeClassifier(**SHAPE).fit(X, Y).save(tmp_path / "model", weights=weights)
    grown = LabelTreeClassifier.load(tmp_path / "model").add_trees(X, Y)
    assert {trained.weight_type for trained in grown.weights_} == {weights}
    grown.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    np.testing.assert_array_equal(loaded.predict_topk(X)[1], grown.predict_topk(X)[1])


def test_joint_trees_beside_others(tmp_path: Path) -> None:
    narrow = {**SHAPE, "arity": 2, "max_leaves": 2, "loss": "logistic"}
    model = LabelTreeClassifier(**narrow).fit(X, Y).set_params(siblings="joint").add_trees(X, Y)
    assert [trained.is_joint for trained in model.weights_] == [False, True]
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    np.testing.assert_array_equal(loaded.predict_topk(X)[1], model.predict_topk(X)[1])


#: Enough rows to choose C and to fit maps.
MORE_X, MORE_Y = documents(300, 60, 20, seed=2)


@pytest.mark.parametrize("parameters", [{}, {"C": 0.5}, {"loss": "logistic"}])
def test_what_was_chosen_is_kept(tmp_path: Path, parameters: dict[str, Any]) -> None:
    model = LabelTreeClassifier(**SHAPE, **parameters).fit(MORE_X, MORE_Y)
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    assert loaded.C == model.C_
    assert isinstance(model.C_, float if "C" in parameters else list)
    same(loaded.add_trees(MORE_X, MORE_Y), model.add_trees(MORE_X, MORE_Y))


@pytest.mark.parametrize("parameters", [{}, {"C": 0.5}, {"solver": "sgd"}])
def test_new_trees_have_maps_of_their_own(parameters: dict[str, Any]) -> None:
    model = LabelTreeClassifier(**SHAPE, **parameters).fit(MORE_X, MORE_Y).add_trees(MORE_X, MORE_Y)
    at_once = LabelTreeClassifier(2, **SHAPE, **parameters).fit(MORE_X, MORE_Y)
    assert model.calibration_.source == "training"
    assert len(model.calibration_.trees) == 2
    for found, expected in zip(model.calibration_.trees, at_once.calibration_.trees, strict=True):
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
    same(model, at_once)


def test_trees_without_maps_go_with_trees_without_maps_only() -> None:
    linked = LabelTreeClassifier(link="exp4", **SHAPE).fit(MORE_X, MORE_Y).add_trees(MORE_X, MORE_Y)
    assert not hasattr(linked, "calibration_")
    same(linked, LabelTreeClassifier(2, link="exp4", **SHAPE).fit(MORE_X, MORE_Y))


def test_maps_of_other_rows_are_not_extended() -> None:
    model = LabelTreeClassifier(**SHAPE).fit(MORE_X, MORE_Y).calibrate(MORE_X, MORE_Y)
    with pytest.raises(ValueError, match="the model is calibrated, and new trees would not be"):
        model.add_trees(MORE_X, MORE_Y)
    assert len(model.trees_) == 1


def test_weights_of_labels_that_were_not_saved_must_be_given_again(tmp_path: Path) -> None:
    LabelTreeClassifier(label_weight={3: 5.0}, **SHAPE).fit(X, Y).save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    with pytest.raises(ValueError, match="a saved model does not keep weights"):
        loaded.add_trees(X, Y)
    again = LabelTreeClassifier(2, label_weight={3: 5.0}, **SHAPE).fit(X, Y)
    same(loaded.set_params(label_weight={3: 5.0}).add_trees(X, Y), again)


def test_other_examples_of_the_same_labels() -> None:
    names = [[f"label {j}" for j in row.indices] for row in Y]
    model = LabelTreeClassifier(**SHAPE).fit(X, names)
    first = model.weights_[0]
    model.add_trees(X[:50], [[*row, *row[:1]] for row in names[:50]], sample_weight=np.full(50, 2))
    assert model.weights_[0] is first
    # A label may be missing from the new examples; one that the model does not know may not be there.
    with pytest.raises(ValueError, match="unheard"):
        model.add_trees(X[:1], [["unheard"]])
    with pytest.raises(ValueError, match="59 features"):
        model.add_trees(X[:, :59], names)
    assert model.n_trees == 2
    assert len(model.trees_) == 2


def test_dense_features_stay_dense() -> None:
    dense = np.random.default_rng(0).normal(size=(120, 9)).astype(np.float32)
    model = LabelTreeClassifier(**SHAPE).fit((X, dense), Y).add_trees((X, dense), Y)
    assert model.dense_features_ == (60, 69)
    again = LabelTreeClassifier(2, **SHAPE).fit((X, dense), Y)
    np.testing.assert_array_equal(model.predict_topk((X, dense))[1], again.predict_topk((X, dense))[1])


def test_node_estimators() -> None:
    model = LabelTreeClassifier(node_estimator=LogisticRegression(), **SHAPE).fit(X, Y).add_trees(X, Y)
    again = LabelTreeClassifier(2, node_estimator=LogisticRegression(), **SHAPE).fit(X, Y)
    np.testing.assert_array_equal(model.predict_topk(X)[1], again.predict_topk(X)[1])
    dense = np.random.default_rng(0).normal(size=(120, 9)).astype(np.float32)
    pairs = LabelTreeClassifier(node_estimator=LogisticRegression(), **SHAPE).fit((X, dense), Y)
    assert len(pairs.add_trees((X, dense), Y).predict_topk((X, dense), 2)[0]) == 120
    with pytest.raises(ValueError, match="have node estimators, or none has"):
        model.set_params(node_estimator=None).add_trees(X, Y)


@pytest.mark.parametrize(
    ("parameters", "more", "message"),
    [
        ({}, {"n_trees": 0}, "n_trees must be an integer of at least 1"),
        ({"loss": "logistic"}, {}, "all trees of a model have the same loss: set it to 'squared_hinge'"),
        ({"normalize": False}, {}, "all trees of a model have the same normalize: set it to True"),
        ({"tree": LabelTree.flat(20)}, {}, "choose a builder for the new trees"),
        ({}, {"tree": "oak"}, "tree must hold LabelTree objects or the words .*, got 'oak'"),
        ({}, {"tree": ["kmeans"], "n_trees": 2}, "expected 2 trees, got 1"),
        ({}, {"tree": LabelTree.flat(3)}, "the given tree has 3 labels, but y has 20"),
    ],
)
def test_what_cannot_be_added(parameters: dict[str, Any], more: dict[str, Any], message: str) -> None:
    model = LabelTreeClassifier(**SHAPE).fit(X, Y).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        model.add_trees(X, Y, **more)
    assert len(model.trees_) == 1

"""Saved FastXML and PfastreXML models: golden ones are read for ever, hostile ones are refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.documents import documents
from tests.golden.example_trees import example_cases
from tests.golden.make import GOLDEN
from tests.small_models import small_data
from tests.unit.test_model_file_fuzz import (
    Model,
    change_header,
    change_numbers,
    cut_or_lengthen,
    flip_bits,
    overwrite_range,
)
from tests.unit.test_model_file_fuzz import ask as ask_everything

from labeltree import FastXMLClassifier, ModelFileError, PfastreXMLClassifier, _native
from labeltree.model_file import load, read_info
from labeltree.rivals.fastxml.forest import ExampleForest

X, Y = small_data()


# -- golden models -------------------------------------------------------------------------------------------------


def test_all_golden_models_are_there() -> None:
    assert {path.parent.name for path in GOLDEN.glob("version-5/*/model.json")} == set(example_cases())


@pytest.mark.parametrize("name", example_cases())
def test_predicts_what_it_did(name: str) -> None:
    golden = GOLDEN / "version-5" / name
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    model: Any = load(golden, verify=True)
    assert type(model).__name__ == expected["estimator"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.label_counts_.tolist() == expected["label_counts"]
    rows: Any = np.array(expected["X"], dtype=np.float32)
    if expected["feature_names"] is not None:
        rows = pd.DataFrame(rows, columns=expected["feature_names"])
    labels, probabilities = model.predict_topk(rows, k=3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-5)
    predicted = model.predict(rows)
    assert (predicted.toarray().tolist() if hasattr(predicted, "toarray") else list(predicted)) == expected[
        "predicted"
    ]


@pytest.mark.parametrize("name", example_cases())
def test_information_and_another_save_agree(name: str, tmp_path: Path) -> None:
    golden = GOLDEN / "version-5" / name
    expected = json.loads(golden.with_name(f"{name}.json").read_text(encoding="utf-8"))
    info = read_info(golden)
    assert info.format_version == 5
    assert [tree.n_nodes for tree in info.trees] == expected["nodes"]
    assert [2 * tree.n_inner_nodes + 1 for tree in info.trees] == expected["nodes"]
    assert info.n_bytes == sum(path.stat().st_size for path in golden.glob("*.safetensors"))
    load(golden).save(tmp_path / "saved")
    files = sorted(path.name for path in golden.iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for file in files:
        if file.endswith(".safetensors"):
            assert (golden / file).read_bytes() == (tmp_path / "saved" / file).read_bytes()


# -- what a file holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifier", [FastXMLClassifier, PfastreXMLClassifier])
def test_trees_are_mapped_not_read(classifier: Any, tmp_path: Path) -> None:
    classifier(3, random_state=0).fit(X, Y).save(tmp_path / "model")
    model = classifier.load(tmp_path / "model")
    for array in model.example_trees_.arrays.values():
        assert not array.flags.owndata
        assert not array.flags.writeable


def test_a_model_is_opened_by_its_own_class(tmp_path: Path) -> None:
    FastXMLClassifier(2, random_state=0).fit(X, Y).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="is a FastXMLClassifier, not a PfastreXMLClassifier"):
        PfastreXMLClassifier.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": "PfastreXMLClassifier"}, "not the tensors of a PfastreXMLClassifier"),
        (
            {"estimator": "LabelTreeClassifier"},
            "is a LabelTreeClassifier, not a LabelTreeClassifier|no parameter",
        ),
        ({"estimator": "os.system"}, "which this version of labeltree does not have"),
        ({"format_version": 1}, "format version 1, but its sections are those of version 5"),
        ({"n_features": 0}, "n_features must be from 1"),
        ({"n_labels": 2**31}, "n_labels must be from 1"),
        ({"n_samples_fit": -1}, "n_samples_fit must not be negative"),
        ({"dense_features": [5, 2]}, "dense_features must be a range"),
        ({"dense_features": [1, 2, 3]}, "dense_features must be two integers"),
        ({"training_report": []}, "not as many trees as model.json says"),
        ({"parameters": {"n_trees": 7}}, "not as many trees as model.json says"),
        ({"parameters": {"C": -1}}, "'C' must be"),
        ({"parameters": {"C": [1]}}, "'C' must be a finite number"),
        ({"parameters": {"loss": "logistic"}}, "has no parameter 'loss'"),
        ({"another": 1}, "unknown field 'another'"),
    ],
)
def test_documents_are_not_believed(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    FastXMLClassifier(2, random_state=0).fit(X, Y).save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model")


# -- the kernel ----------------------------------------------------------------------------------------------------


def forest_arrays() -> dict[str, Any]:
    """A tree of three nodes and one of one, for 3 labels and 4 features."""
    return {
        "tree_begin": np.array([0, 3, 4], dtype=np.int64),
        "child": np.array([1, 0, 0, 0], dtype=np.int32),
        "weight_begin": np.array([0, 2, 2, 2, 2], dtype=np.int64),
        "feature": np.array([0, 3], dtype=np.int32),
        "weight": np.array([1, -1], dtype=np.float32),
        "bias": np.array([0.5, 0, 0, 0], dtype=np.float32),
        "pair_begin": np.array([0, 0, 1, 3, 3], dtype=np.int64),
        "label": np.array([0, 1, 2], dtype=np.int32),
        "probability": np.array([1, 0.5, 0.25], dtype=np.float32),
        "mean_begin": np.array([0, 1, 1, 2], dtype=np.int64),
        "mean_feature": np.array([0, 3], dtype=np.int32),
        "mean_value": np.array([1, 0.5], dtype=np.float32),
        "mean_square": np.array([1, 0, 0.25], dtype=np.float32),
    }


def ask(arrays: dict[str, Any]) -> Any:
    forest = _native.ExampleForest(arrays, 3, 4, 30.0, 0.8)
    features = _native.FeatureMatrix.dense(np.array([[1, 0, 0, 0], [0, 0, 0, 1]], dtype=np.float32), False)
    labels, probabilities = np.empty((2, 3), np.int32), np.empty((2, 3), np.float32)
    forest.top_k(features, _native.Search(labels.shape[1]), labels, probabilities)
    return labels, probabilities


@pytest.mark.native
def test_a_forest_by_hand() -> None:
    arrays = {name: values for name, values in forest_arrays().items() if not name.startswith("mean")}
    labels, probabilities = ask(arrays)
    np.testing.assert_array_equal(labels, [[1, 2, 0], [0, 1, 2]])
    np.testing.assert_array_equal(probabilities, [[0.25, 0.125, 0], [0.5, 0, 0]])


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("tree_begin", [], "at least one tree"),
        ("tree_begin", [0], "at least one tree"),
        ("tree_begin", [0, 3, 5], "does not span"),
        ("tree_begin", [0, 5, 4], "decreases|lacks nodes|nobody's child"),
        ("tree_begin", [0, 0, 4], "lacks nodes"),
        ("child", [1, 0, 0, 1], "not numbered breadth first"),
        ("child", [-1, 0, 0, 0], "not numbered breadth first"),
        ("child", [2**31 - 1, 0, 0, 0], "not numbered breadth first"),
        ("child", [0, 0, 0, 0], "nobody's child"),
        ("child", [1, 3, 0, 0], "lacks nodes"),
        ("child", [1, 0, 0], "number of biases|does not span"),
        ("weight_begin", [0, 3, 2, 2, 2], "decreases"),
        ("weight_begin", [0, 2, 2], "wrong length"),
        ("weight_begin", [-1, 2, 2, 2, 2], "does not span"),
        ("feature", [0, 4], "the feature of a separator is out of range"),
        ("feature", [-1, 3], "the feature of a separator is out of range"),
        ("feature", [0], "as many features as weights"),
        ("pair_begin", [0, 0, 1, 4, 3], "decreases"),
        ("label", [0, 1, 3], "the label of a leaf is out of range"),
        ("label", [-1, 1, 2], "the label of a leaf is out of range"),
        ("label", [0], "as many labels as probabilities"),
        ("probability", [1, 0.5, np.nan], "no probability"),
        ("probability", [1, 0.5, 2], "no probability"),
        ("probability", [-1, 0.5, 0.5], "no probability"),
        ("mean_begin", [], "wrong length"),
        ("mean_begin", [0, 2, 1, 2], "decreases"),
        ("mean_begin", [0, 0, 2, 2, 2], "wrong length"),
        ("mean_feature", [4, 4], "the feature of a mean is out of range"),
        ("mean_value", [1], "as many features as values"),
        ("mean_value", [np.nan, np.inf], "the mean of a label is not finite"),
        ("mean_square", [np.nan, np.inf, np.nan], "the mean of a label is not finite"),
        ("mean_square", [0, 0], "square has the wrong length"),
    ],
)
def test_the_kernel_does_not_believe_in_arrays(name: str, values: list[float], message: str) -> None:
    arrays = forest_arrays()
    ask(arrays)
    arrays[name] = np.array(values, dtype=arrays[name].dtype)
    with pytest.raises(ModelFileError, match=message):
        ask(arrays)
    with pytest.raises(ModelFileError, match=message):
        _native.ExampleForest(arrays, 3, 4, 30.0, 0.8).verify()


@pytest.mark.native
@pytest.mark.parametrize("name", forest_arrays())
def test_arrays_of_another_type_are_refused(name: str) -> None:
    arrays = forest_arrays()
    for wrong in (arrays[name].astype(np.int16), arrays[name].reshape(-1, 1), arrays[name].tolist()):
        with pytest.raises(ModelFileError, match=f"{name} has the wrong type or shape"):
            ask({**arrays, name: wrong})


class ExampleModel(Model):
    def with_file(self, name: str, content: bytes) -> dict[str, bytes]:
        document = json.loads(self.files["model.json"])
        for entry in document["files"].values():
            if entry is not None and entry["name"] == name:
                entry["bytes"] = len(content)
        return {name: content, "model.json": json.dumps(document).encode()}


@pytest.mark.native
@pytest.mark.parametrize("classifier", [FastXMLClassifier, PfastreXMLClassifier])
@pytest.mark.parametrize(
    "damage", [flip_bits, cut_or_lengthen, overwrite_range, change_numbers, change_header]
)
def test_damaged_models_are_refused_or_answer(classifier: Any, damage: Any, tmp_path: Path) -> None:
    classifier(3, max_leaf=3, C=10.0, random_state=0).fit(X, Y).save(tmp_path / "model")
    model, rng, outcomes = ExampleModel(tmp_path / "model"), random.Random(0), set()
    assert ask_everything(model.directory, verify=True) == "answered"
    for _ in range(60):
        outcomes.add(model.outcome(damage(rng, model)))
    assert "refused" in outcomes


def test_a_damaged_model_is_not_saved_again(tmp_path: Path) -> None:
    rows, labels = documents(60, 20, 6)
    model = FastXMLClassifier(2, random_state=0).fit(rows, labels)
    arrays = {**model.example_trees_.arrays}
    arrays["label"] = arrays["label"] + np.int32(1000)
    damaged = ExampleForest(replace(model.example_trees_, arrays=arrays))
    model.adopt(replace(model.model_, forest=damaged))
    with pytest.raises(ModelFileError, match="out of range"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()

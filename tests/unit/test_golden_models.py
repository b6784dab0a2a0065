"""Models of every format version ever released are read, and predict what they did."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labeltree import LabelTreeClassifier
from labeltree.model_file import load, read_info

GOLDEN = Path(__file__).parents[1] / "golden"
#: Those of online trees and with decisions have tests of their own.
FOLDERS = ("version-[12]/*", "version-4/calibrated-*", "version-9/reranked-*", "version-13/*")
MODELS = sorted(
    path.parent
    for folder in FOLDERS
    for path in GOLDEN.glob(f"{folder}/model.json")
    if read_info(path.parent).estimator != "OnlineLabelTreeClassifier"
)

each_model = pytest.mark.parametrize("golden", MODELS, ids=lambda path: f"{path.parent.name}/{path.name}")


def expectation(golden: Path) -> dict:
    return json.loads(golden.with_name(f"{golden.name}.json").read_text(encoding="utf-8"))


def test_all_golden_models_are_there():
    assert Counter(model.parent.name for model in MODELS) == {
        "version-1": 13,
        "version-2": 8,
        "version-4": 3,
        "version-9": 5,
        "version-13": 7,
    }


@each_model
def test_the_version_is_the_first_that_can_hold_the_model(golden):
    assert f"version-{read_info(golden).format_version}" == golden.parent.name


@each_model
def test_predicts_what_it_did(golden):
    expected = expectation(golden)
    model = load(golden, verify=True)
    assert model.classes_.dtype == np.dtype(expected["classes_dtype"])
    assert model.classes_.tolist() == expected["classes"]
    assert model.label_kind_ == expected["label_kind"]
    assert model.label_counts_.tolist() == expected["label_counts"]
    assert model.n_samples_fit_ == expected["n_samples_fit"]
    assert [tree.to_nested() for tree in model.trees_] == expected["trees"]

    X = np.array(expected["X"], dtype=np.float32)
    if expected["feature_names"] is not None:
        assert model.feature_names_in_.tolist() == expected["feature_names"]
        X = pd.DataFrame(X, columns=expected["feature_names"])
    labels, probabilities = model.predict_topk(X, k=3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-5)


@each_model
def test_information_agrees_with_the_model(golden):
    model, info = load(golden), read_info(golden)
    assert info.n_labels == len(model.classes_)
    assert info.n_features == model.n_features_in_
    assert [tree.n_nodes for tree in info.trees] == [tree.n_nodes for tree in model.trees_]
    assert [tree.n_inner_nodes for tree in info.trees] == [tree.n_blocks for tree in model.trees_]
    assert [tree.n_weights for tree in info.trees] == [weights.n_weights for weights in model.weights_]
    assert info.n_bytes == sum(path.stat().st_size for path in golden.glob("*.safetensors"))


@each_model
def test_saving_it_again_writes_the_same_bytes(golden, tmp_path):
    shutil.copytree(golden, tmp_path / "copy")
    load(tmp_path / "copy").save(tmp_path / "saved")
    files = sorted(path.name for path in golden.iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for name in files:
        if name == "model.json":  # but for the version of the library and what it has learned since
            old, new = (json.loads((place / name).read_text()) for place in (golden, tmp_path / "saved"))
            same = old["parameters"].keys() - {"link"}
            assert {key: new["parameters"][key] for key in same} == {
                key: old["parameters"][key] for key in same
            }
            first = {"auto": "sigmoid" if old["parameters"]["loss"] == "logistic" else "exp3"}
            link = old["parameters"]["link"]
            assert new["parameters"]["link"] == first.get(link, link)
            # What a parameter that came later did before it was there: its default, but for this one.
            before = {**LabelTreeClassifier().get_params(), "frequent_share": 0.0}
            later = new["parameters"].keys() - old["parameters"].keys()
            assert all(new["parameters"][key] == before[key] for key in later)
            written = {"library_version": "", "parameters": {}}
            assert {**old, **written} == {**new, **written}
        else:
            assert (golden / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()

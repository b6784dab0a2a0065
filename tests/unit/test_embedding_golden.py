"""Saved models with word vectors are read for ever, and answer as they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.command_line import run, run_json
from tests.golden.make import GOLDEN
from tests.golden.taggers import vector_tagger_cases
from tests.golden.word_vectors import vector_cases

from labeltree.model_file import load, read_info

FOLDER = GOLDEN / "version-10"

each_model = pytest.mark.parametrize("name", vector_cases())


def expectation(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_all_golden_models_are_there() -> None:
    found = {path.parent.name for path in FOLDER.glob("*/model.json")}
    assert found == {*vector_cases(), *vector_tagger_cases()}


@each_model
def test_answers_as_it_did(name: str) -> None:
    expected, model = expectation(name), load(FOLDER / name, verify=True)
    assert type(model).__name__ == expected["estimator"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.label_counts_.tolist() == expected["label_counts"]
    assert model.tree_.to_nested() == expected["tree"]
    rows: Any = np.array(expected["X"], dtype=np.float32)
    if expected["feature_names"] is not None:
        assert model.feature_names_in_.tolist() == expected["feature_names"]
        rows = pd.DataFrame(rows, columns=expected["feature_names"])
    np.testing.assert_allclose(model.transform(rows), expected["hidden"], rtol=1e-4, atol=1e-5)
    labels, probabilities = model.predict_topk(rows, k=3)
    assert labels.tolist() == expected["labels"]
    np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=1e-4)
    predicted = model.predict(rows)
    listed = predicted.toarray().tolist() if hasattr(predicted, "toarray") else list(predicted)
    assert listed == expected["predicted"]


@each_model
def test_saving_it_again_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    load(FOLDER / name).save(tmp_path / "saved")
    files = sorted(path.name for path in (FOLDER / name).iterdir())
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == files
    for file in files:
        if file.endswith(".safetensors"):
            assert (FOLDER / name / file).read_bytes() == (tmp_path / "saved" / file).read_bytes()


@each_model
def test_information(name: str) -> None:
    model, info, expected = load(FOLDER / name), read_info(FOLDER / name), expectation(name)
    n_numbers = model.word_vectors_.size + model.node_vectors_.size
    assert (info.format_version, info.estimator, info.weights) == (
        10,
        expected["estimator"],
        expected["weights"],
    )
    assert [(tree.n_nodes, tree.n_weights) for tree in info.trees] == [(model.tree_.n_nodes, n_numbers)]
    assert info.n_bytes == sum(path.stat().st_size for path in (FOLDER / name).glob("*.safetensors"))
    found = run_json("info", FOLDER / name, "--verify")
    assert (found["estimator"], found["format_version"]) == (expected["estimator"], 10)
    assert (found["labels"], found["features"]) == (len(model.classes_), model.n_features_in_)
    assert found["weights"] == expected["weights"]
    printed = " ".join(run("info", FOLDER / name, "--tree").stdout.split())
    assert expected["estimator"] in printed
    assert expected["weights"] in printed

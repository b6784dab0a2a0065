"""`labeltree rival`, against the same training in Python, and what its models can be asked."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows

import labeltree
from labeltree.cli.parameters import IN_PYTHON_ONLY, classifier_parameters
from labeltree.cli.rival.command import RIVALS, Rival
from labeltree.data import read_xmlc
from labeltree.model_file import load

#: What makes a small model of each.
QUICK: dict[str, dict[str, Any]] = {
    "softmax": {"arity": 3, "max_leaves": 4, "C": 4.0},
    "fastxml": {"n_trees": 5},
    "pfastrexml": {"n_trees": 5, "alpha": 0.9},
    "one-vs-rest": {"loss": "logistic", "C": 4.0},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("data") / "train.txt", make_rows(200, seed=1))


def options_of(rival: Rival) -> list[object]:
    given: list[object] = ["--random-state", 3]
    for name, value in QUICK[rival.name].items():
        given += [f"--{name.replace('_', '-')}", value]
    return given


@pytest.fixture(scope="module", params=RIVALS, ids=lambda rival: rival.name)
def trained(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    rival: Rival = request.param
    path = tmp_path_factory.mktemp("models") / rival.name
    result = run("rival", rival.name, data, "--model", path, *options_of(rival))
    return rival, path, result


def test_trains_the_model_that_python_trains(trained: Any, data: Path) -> None:
    rival, path, result = trained
    X, y = read_xmlc(data)
    model = getattr(labeltree, rival.estimator)(random_state=3, **QUICK[rival.name]).fit(X, y)
    for expected, found in zip(model.predict_topk(X, 3), load(path).predict_topk(X, 3), strict=True):
        np.testing.assert_array_equal(found, expected)
    words = " ".join(result.stdout.split())
    assert f"200 rows, {N_FEATURES} features, {N_LABELS} labels" in words
    assert rival.estimator in words
    assert f"labeltree evaluate {path}" in result.stdout


def test_its_models_are_asked_as_all_others(trained: Any, data: Path, tmp_path: Path) -> None:
    rival, path, _ = trained
    figures = run_json("evaluate", path, data)
    assert figures["metrics"]["P@1"] > 0.8
    lines = run("predict", path, data, "--k", 2).stdout.splitlines()
    assert len(lines) == 200
    info = run_json("info", path)
    assert info["estimator"] == rival.estimator
    run("info", path)
    run("decide", path, data, "--metric", "micro_f1")
    assert load(path).decision_.metric == "micro_f1"


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_every_parameter_is_an_option(rival: Rival) -> None:
    signature = inspect.signature(getattr(labeltree, rival.estimator))
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    found = classifier_parameters(rival.estimator)
    assert {name: parameter.default for name, parameter in found.items()} == defaults
    page = run("rival", rival.name, "--help").stdout
    for name in defaults.keys() - set(IN_PYTHON_ONLY):
        assert f"--{name.replace('_', '-')}"[:18] in page
    assert "More parameters" not in page


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_json(rival: Rival, data: Path, tmp_path: Path) -> None:
    report = run_json("rival", rival.name, data, "--model", tmp_path / "model", *options_of(rival))
    assert (report["rows"], report["features"], report["labels"]) == (200, N_FEATURES, N_LABELS)
    assert report["estimator"] == rival.estimator
    assert report["parameters"]["random_state"] == 3
    assert set(report["seconds"]) == {"reading", "training", "saving"}


def test_trees_from_files(data: Path, tmp_path: Path) -> None:
    labels = list(range(N_LABELS))
    tree = labeltree.LabelTree.from_nested([labels[:5], labels[5:]])
    (tmp_path / "tree.json").write_text(json.dumps(json.loads(tree.to_json())))
    report = run_json(
        "rival", "softmax", data, "--model", tmp_path / "model", "--tree", tmp_path / "tree.json"
    )
    assert report["parameters"]["tree"] == str(tmp_path / "tree.json")
    assert load(tmp_path / "model").tree_ == tree


def test_wrong_options_end_before_anything_is_read(tmp_path: Path) -> None:
    result = run("rival", "softmax", "missing.txt", "--model", tmp_path / "m", "--C", -1, exit_code=2)
    assert "'C' must be" in " ".join(result.stderr.replace("│", " ").split())
    run("rival", "softmax", "missing.txt", "--model", tmp_path / "m", exit_code=1)
    run("rival", "oak", "missing.txt", exit_code=2)
    assert not (tmp_path / "m").exists()

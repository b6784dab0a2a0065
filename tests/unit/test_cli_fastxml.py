"""The commands that ask models, asked about trees over examples: they answer, or say that there is no label tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows

from labeltree import FastXMLClassifier, PfastreXMLClassifier, metrics
from labeltree.cli.parameters import classifier_parameters
from labeltree.data import read_xmlc

CLASSES = {"fastxml": FastXMLClassifier, "pfastrexml": PfastreXMLClassifier}


@pytest.fixture(scope="module", params=CLASSES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    X, y = read_xmlc(write_rows(folder / "train.txt", make_rows(300, seed=6)))
    write_rows(folder / "test.txt", make_rows(40, seed=7))
    CLASSES[request.param](12, random_state=0).fit(X, y).save(folder / "model")
    return folder


def opened(folder: Path) -> tuple[Any, Any, Any]:
    X, y = read_xmlc(folder / "test.txt", n_features=N_FEATURES, n_labels=N_LABELS)
    return CLASSES[folder.name[:-1]].load(folder / "model"), X, y


def test_predict(folder: Path) -> None:
    model, X, _ = opened(folder)
    lines = run("predict", folder / "model", folder / "test.txt", "-k", 3).stdout.splitlines()
    labels = model.predict_topk(X, 3).labels
    found = [[int(pair.partition(":")[0]) for pair in line.split()] for line in lines]
    assert found == labels.tolist()


def test_options_of_label_trees_are_refused(folder: Path) -> None:
    error = run("predict", folder / "model", folder / "test.txt", "--beam", 5, exit_code=2).stderr
    assert "--beam" in error
    assert "has no such parameter" in error


def test_evaluate_and_report(folder: Path) -> None:
    model, X, y = opened(folder)
    page = folder / "report.html"
    found = run_json("evaluate", folder / "model", folder / "test.txt", "--report", page)
    expected = metrics.precision_at_k(y, model.predict_topk(X, 1).labels, 1)
    assert found["metrics"]["P@1"] == pytest.approx(expected)
    assert found["nodes"] == model.example_trees_.n_nodes
    assert found["node_evaluations_per_row"] > 12
    assert "trees that divide examples have no nodes with labels below them" in page.read_text()


def test_info(folder: Path) -> None:
    model, _, _ = opened(folder)
    found = run_json("info", folder / "model", "--verify")
    assert found["estimator"] == type(model).__name__
    assert found["format_version"] == 5
    assert [(tree["nodes"], tree["depth"], tree["n_leaves"]) for tree in found["trees"]] == [
        (shape.n_nodes, shape.depth, shape.n_leaves) for shape in model.example_trees_.shapes()
    ]
    assert sum(tree["weights"] for tree in found["trees"]) == len(model.example_trees_.arrays["weight"])
    printed = " ".join(run("info", folder / "model").stdout.split())
    assert f"12 trees {model.example_trees_.n_nodes:,} nodes" in printed


@pytest.mark.parametrize("command", ["info MODEL --tree", "tree show MODEL", "tree export MODEL --out TREE"])
def test_there_is_no_label_tree_to_show(folder: Path, command: str) -> None:
    paths = {"MODEL": folder / "model", "TREE": folder / "tree.json"}
    error = run(*(paths.get(word, word) for word in command.split()), exit_code=2).stderr
    assert "has no label tree" in " ".join(error.split())
    assert not (folder / "tree.json").exists()


def test_explain_and_decide(folder: Path) -> None:
    model, X, _ = opened(folder)
    found = run_json("explain", folder / "model", folder / "test.txt", "--row", 3)
    label, score = (array[0, 0] for array in model.predict_topk(X[3], 1))
    assert found["label"] == label
    assert found["probability"] == pytest.approx(float(score), rel=1e-4)
    assert len(found["trees"]) == 12
    run("explain", folder / "model", folder / "test.txt")
    run("decide", folder / "model", folder / "test.txt", "--metric", "micro_f1")
    assert CLASSES[folder.name[:-1]].load(folder / "model").decision_.metric.startswith("micro")


@pytest.mark.parametrize("name", ["FastXMLClassifier", "PfastreXMLClassifier"])
def test_parameters_can_become_options(name: str) -> None:
    parameters = classifier_parameters(name)
    assert parameters["n_trees"].default == 50
    assert all(parameter.help for parameter in parameters.values())
    assert np.isclose(parameters["alpha"].default, 0.8) if name.startswith("P") else "alpha" not in parameters

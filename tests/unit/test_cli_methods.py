"""`labeltree train --method`, against the same training in Python, and what its models can be asked."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, write_rows

import labeltree
from labeltree.cli.parameters import classifier_parameters
from labeltree.data import read_xmlc
from labeltree.kinds import METHODS
from labeltree.model_file import load

#: Parameters for a small model of each method.
QUICK: dict[str, dict[str, Any]] = {
    "label-tree": {"arity": 3, "max_leaves": 4},
    "softmax": {"arity": 3, "max_leaves": 4, "C": 4.0},
    "fastxml": {"n_trees": 5},
    "pfastrexml": {"n_trees": 5, "alpha": 0.9},
    "one-vs-rest": {"loss": "logistic", "C": 4.0},
    "extremetext": {"dimension": 12, "epochs": 40, "batch_size": 8, "dropout": 0.0, "max_leaves": 4},
    "fasttext": {"loss": "ova", "dimension": 12, "epochs": 60, "learning_rate": 0.3},
}

#: Python objects, which cannot be typed.
IN_PYTHON_ONLY = {"node_estimator"}

#: Options that no method has as a parameter.
COMMON = {"model", "method", "parameters", "json", "help", "format", "n-features", "n-labels"}

every_method = pytest.mark.parametrize("method", METHODS)
#: Those that take rows of numbers; `tests/deep` trains the others.
OF_NUMBERS = [method for method, kind in METHODS.items() if not kind.reads_texts]
every_method_of_numbers = pytest.mark.parametrize("method", OF_NUMBERS)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("data") / "train.txt", make_rows(200, seed=1))


def quick(method: str) -> list[object]:
    given: list[object] = ["--method", method, "--random-state", 3]
    for name, value in QUICK[method].items():
        given += [f"--{name.replace('_', '-')}", value]
    return given


def in_words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.fixture(scope="module", params=OF_NUMBERS)
def trained(request: pytest.FixtureRequest, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    method: str = request.param
    path = tmp_path_factory.mktemp("models") / method
    result = run("train", data, "--model", path, *quick(method))
    return method, path, result


def test_trains_the_model_that_python_trains(trained: Any, data: Path) -> None:
    method, path, result = trained
    X, y = read_xmlc(data)
    model = METHODS[method].load()(random_state=3, **QUICK[method]).fit(X, y)
    for expected, found in zip(model.predict_topk(X, 3), load(path).predict_topk(X, 3), strict=True):
        np.testing.assert_array_equal(found, expected)
    words = " ".join(result.stdout.split())
    assert f"200 rows, {N_FEATURES} features, {N_LABELS} labels" in words
    assert METHODS[method].estimator in words or method == "label-tree"
    assert re.search(r"\d+ trees? of .* nodes, .* levels?, trained in ", words)
    assert f"labeltree evaluate {path}" in result.stdout


def test_its_models_are_asked_as_all_others(trained: Any, data: Path, tmp_path: Path) -> None:
    method, path, _ = trained
    figures = run_json("evaluate", path, data)
    assert figures["metrics"]["P@1"] > 0.8
    assert figures["nodes"] > N_LABELS
    lines = run("predict", path, data, "--k", 2).stdout.splitlines()
    assert len(lines) == 200
    info = run_json("info", path)
    assert info["estimator"] == METHODS[method].estimator
    run("info", path)
    run("decide", path, data, "--metric", "micro_f1")
    assert load(path).decision_.metric == "micro_f1"


@every_method
def test_every_parameter_is_an_option(method: str) -> None:
    signature = inspect.signature(METHODS[method].load())
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}
    found = classifier_parameters(METHODS[method].estimator)
    assert {name: parameter.default for name, parameter in found.items()} == defaults
    placed = [name for names in METHODS[method].panels.values() for name in names]
    assert sorted(placed) == sorted(defaults.keys() - IN_PYTHON_ONLY)


@every_method
def test_help_shows_the_options_of_the_method_and_no_others(method: str) -> None:
    page = run("train", "--method", method, "--help-all").stdout
    shown = set(re.findall(r"^│[* ]+--([A-Za-z0-9-]+)", page, re.MULTILINE))
    own = {name.replace("_", "-") for name in classifier_parameters(METHODS[method].estimator)}
    others = {
        name.replace("_", "-")
        for kind in METHODS.values()
        for name in classifier_parameters(kind.estimator)
        if name not in IN_PYTHON_ONLY
    } - own
    assert shown >= COMMON
    # Long names are cut on a narrow terminal.
    assert {name for name in own if len(name) < 14} <= shown | {"node-estimator"}
    assert not shown & others
    assert METHODS[method].help.split(":")[0] in in_words(page)
    data = "texts.jsonl" if METHODS[method].reads_texts else "train.txt"
    assert f"labeltree train {data} --model tags.labeltree --method {method}" in in_words(page) or (
        method == "label-tree"
    )
    assert run("train", f"--method={method}", "--help-all").stdout == page
    short = run("train", "--method", method, "--help").stdout
    in_short = set(re.findall(r"^│[* ]+--([A-Za-z0-9-]+)", short, re.MULTILINE))
    assert {name for name in in_short if len(name) < 14} < shown
    if method != "label-tree":
        assert METHODS[method].help.split(":")[0] in in_words(short)


def test_help_without_a_method_names_all_of_them() -> None:
    for flag in ("--help", "--help-all"):
        page = in_words(run("train", flag).stdout)
        assert page == in_words(run("train", "--method", "label-tree", flag).stdout)
        for method in METHODS:
            assert method in page
            assert f"--method {method}" in page or flag == "--help"


@pytest.mark.parametrize(
    ("method", "option", "message"),
    [
        ("label-tree", "--alpha", "--alpha is an option of pfastrexml, not of label-tree"),
        (
            "label-tree",
            "--max-leaf=9",
            "--max-leaf is an option of fastxml and pfastrexml, not of label-tree",
        ),
        ("softmax", "--loss", "one-vs-rest and extremetext and fasttext, not of softmax"),
        (
            "attentionxml",
            "--preset",
            "label-tree and softmax and one-vs-rest and fastxml and pfastrexml and extremetext and fasttext, not of",
        ),
        (
            "one-vs-rest",
            "--tree",
            "label-tree and softmax and extremetext and attentionxml and encoder, not of one-vs-rest",
        ),
        ("fastxml", "--weights", "of label-tree and softmax and one-vs-rest, not of fastxml"),
        ("pfastrexml", "--leaf", "No such option"),
        (
            "fasttext",
            "--dropout",
            "--dropout is an option of extremetext and attentionxml and encoder, not of fasttext",
        ),
        ("fastxml", "--pretrained", "extremetext and fasttext and attentionxml, not of fastxml"),
        ("extremetext", "--n-trees", "and pfastrexml and attentionxml, not of extremetext"),
        ("extremetext", "--weights", "of label-tree and softmax and one-vs-rest, not of extremetext"),
    ],
)
def test_options_of_other_methods_are_refused_by_name(
    tmp_path: Path, method: str, option: str, message: str
) -> None:
    arguments = ["train", "missing.txt", "--model", tmp_path / "m", "--method", method, option, "1"]
    assert message in in_words(run(*arguments, exit_code=2).stderr)
    assert not (tmp_path / "m").exists()


@every_method_of_numbers
def test_json(method: str, data: Path, tmp_path: Path) -> None:
    report = run_json("train", data, "--model", tmp_path / "model", *quick(method))
    assert (report["rows"], report["features"], report["labels"]) == (200, N_FEATURES, N_LABELS)
    assert (report["method"], report["estimator"]) == (method, METHODS[method].estimator)
    assert report["parameters"]["random_state"] == 3
    assert report["weights"] == ("float32" if method in ("fastxml", "pfastrexml") else "int8")
    assert {"reading", "training", "saving"} <= report["seconds"].keys()
    model = load(tmp_path / "model")
    assert report["training_report"] == model.training_report_
    assert len(report["trees"]) == model.model_.forest.n_trees
    assert report["trees"] == run_json("info", tmp_path / "model")["trees"]


@every_method_of_numbers
def test_texts(method: str, tmp_path: Path) -> None:
    texts = [("a boat at sea", ["sea", "boat"]), ("a cat", ["cat"]), ("a boat", ["boat"])] * 5
    lines = [json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in texts]
    (tmp_path / "texts.jsonl").write_text("".join(lines))
    run(
        "train",
        tmp_path / "texts.jsonl",
        "--model",
        tmp_path / "model",
        *quick(method),
        "--ngram-range",
        "1,2",
    )
    assert "cat" in run("tag", tmp_path / "model", "a cat", "-k", 1).stdout
    assert run_json("evaluate", tmp_path / "model", tmp_path / "texts.jsonl")["metrics"]["P@1"] > 0.9


@every_method_of_numbers
def test_parameters_from_a_file(method: str, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "parameters.json"
    file.write_text(json.dumps({**QUICK[method], "random_state": 5}))
    arguments = ["train", data, "--model", tmp_path / "model", "--method", method, "--parameters", file]
    found = run_json(*arguments, "--random-state", 3)["parameters"]
    assert {name: found[name] for name in QUICK[method]} == QUICK[method]
    assert found["random_state"] == 3
    file.write_text(json.dumps({"policy": "best_fit"}))
    assert "'policy' is not a parameter" in run(*arguments, exit_code=1).stderr


def test_trees_from_files(data: Path, tmp_path: Path) -> None:
    labels = list(range(N_LABELS))
    tree = labeltree.LabelTree.from_nested([labels[:5], labels[5:]])
    (tmp_path / "tree.json").write_text(json.dumps(json.loads(tree.to_json())))
    options = ["--method", "softmax", "--tree", tmp_path / "tree.json"]
    report = run_json("train", data, "--model", tmp_path / "model", *options)
    assert report["parameters"]["tree"] == str(tmp_path / "tree.json")
    assert load(tmp_path / "model").tree_ == tree


def test_smaller_weights(data: Path, tmp_path: Path) -> None:
    options = ["--method", "one-vs-rest", "--weights", "int8"]
    assert run_json("train", data, "--model", tmp_path / "model", *options)["weights"] == "int8"


def test_wrong_options_end_before_anything_is_read(tmp_path: Path) -> None:
    arguments = ["train", "missing.txt", "--model", tmp_path / "m", "--method"]
    result = run(*arguments, "softmax", "--C", -1, exit_code=2)
    assert "'C' must be" in in_words(result.stderr)
    run(*arguments, "softmax", exit_code=1)
    assert "'oak' is not one of 'label-tree', 'softmax'" in in_words(
        run(*arguments, "oak", exit_code=2).stderr
    )
    run(*arguments, exit_code=2)
    assert "Missing argument 'DATA'" in in_words(run("train", exit_code=2).stderr)
    assert not (tmp_path / "m").exists()


def test_a_new_kind_needs_no_more_than_its_entry(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(METHODS, "twin", replace(METHODS["fastxml"], method="twin", help="A twin."))
    options = ["--method", "twin", "--n-trees", 2]
    assert run_json("train", data, "--model", tmp_path / "model", *options)["method"] == "twin"
    assert "A twin." in run("train", "--method", "twin", "--help").stdout
    assert run_json("evaluate", tmp_path / "model", data)["rows"] == 200


def test_a_mix_of_models_of_texts_reads_texts(tmp_path: Path) -> None:
    texts = [("a boat at sea", ["sea", "boat"]), ("a cat", ["cat"]), ("a boat", ["boat"])] * 5
    lines = [json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in texts]
    (tmp_path / "texts.jsonl").write_text("".join(lines))
    models = []
    for method in ("label-tree", "one-vs-rest"):
        run("train", tmp_path / "texts.jsonl", "--model", tmp_path / method, *quick(method))
        models.append(load(tmp_path / method))
    labeltree.mix(models).save(tmp_path / "mix")
    assert "cat" in run("tag", tmp_path / "mix", "a cat", "-k", 1).stdout
    for command in ("evaluate", "predict", "explain", "decide"):
        run(command, tmp_path / "mix", tmp_path / "texts.jsonl")


def test_a_mix_is_asked_as_all_others(data: Path, tmp_path: Path) -> None:
    for method in ("label-tree", "one-vs-rest"):
        run("train", data, "--model", tmp_path / method, *quick(method))
    mixed = labeltree.mix([load(tmp_path / "label-tree"), load(tmp_path / "one-vs-rest")])
    path = tmp_path / "mix"
    mixed.save(path)
    figures = run_json("evaluate", path, data, "--report", tmp_path / "report.html")
    assert figures["metrics"]["P@1"] > 0.8
    lines = run("predict", path, data, "--k", 2).stdout.splitlines()
    assert [int(line.partition(":")[0]) for line in lines] == mixed.predict_topk(
        read_xmlc(data)[0], 1
    ).labels.ravel().tolist()
    assert run_json("explain", path, data)["row"] == 0
    assert len(run_json("info", path)["trees"]) == 2
    run("info", path)
    run("decide", path, data, "--metric", "micro_f1")
    assert load(path).decision_.metric == "micro_f1"
    error = run("predict", path, data, "--beam", 3, exit_code=2).stderr
    assert "has no such parameter" in in_words(error)
    assert "has no label tree" in in_words(run("info", path, "--tree", exit_code=2).stderr)
    assert "--n-jobs must not be 0" in in_words(run("predict", path, data, "--n-jobs", 0, exit_code=2).stderr)
    error = run("convert", path, tmp_path / "small", "--weights", "int8", exit_code=1).stderr
    assert "is a MixedModel, whose weights have one type only" in in_words(error)
    assert not (tmp_path / "small").exists()

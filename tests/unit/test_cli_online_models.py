"""The commands that ask models, asked about online ones: features and labels have names or numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import make_rows, run, run_json, write_rows

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier, metrics
from labeltree.data import read_stream

TRAIN, TEST = make_rows(300, seed=6), make_rows(40, seed=7)
#: Labels and features that the models have not seen.
NEW_ROW: tuple[list[int], dict[int, float]] = ([99], {77: 1.0, 3: 0.5})


def write_named(path: Path, rows: list[tuple[list[int], dict[int, float]]]) -> Path:
    lines = [
        json.dumps({"features": {f"f{i}": v for i, v in x.items()}, "labels": [f"l{label}" for label in y]})
        for y, x in rows
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module", params=["named", "numbered"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models that learned names or numbers, and test data for them, which has no ending that says what it is."""
    folder = tmp_path_factory.mktemp(request.param)
    write = write_named if request.param == "named" else write_plain
    write(folder / "train", TRAIN)
    write(folder / "test", [*TEST, NEW_ROW])
    OnlineLabelTreeClassifier(random_state=0).learn(folder / "train", checkpoint=folder / "model")
    return folder


def write_plain(path: Path, rows: list[tuple[list[int], dict[int, float]]]) -> Path:
    return write_rows(path, rows, header=False)


def opened(folder: Path) -> tuple[OnlineLabelTreeClassifier, Any, list[list[Any]]]:
    ((X, y),) = read_stream(folder / "test")
    return OnlineLabelTreeClassifier.load(folder / "model"), X, y


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_predict(folder: Path, source: str) -> None:
    model, X, _ = opened(folder)
    text = (folder / "test").read_bytes()
    arguments = [folder / "model", folder / "test" if source == "file" else "-", "-k", 3]
    labels, probabilities = model.predict_topk(X, 3)
    lines = run("predict", *arguments, "--json", input=text).stdout.splitlines()
    for line, names, ps in zip(lines, labels.tolist(), probabilities.tolist(), strict=True):
        found = json.loads(line)["labels"]
        assert [entry["label"] for entry in found] == names
        assert [entry["probability"] for entry in found] == pytest.approx(ps, rel=1e-5)
    first = run("predict", *arguments, input=text).stdout.splitlines()[0]
    assert [pair.rpartition(":")[0] for pair in first.split("\t" if model.named_features_ else " ")] == [
        str(name) for name in labels[0].tolist()
    ]


def test_labels_are_not_needed_to_predict(folder: Path) -> None:
    model, _, _ = opened(folder)
    text = '{"features": {"f3": 1.0}}\n' if model.named_features_ else " 3:1\n"
    assert run("predict", folder / "model", "-", "-k", 1, input=text).stdout.count("\n") == 1


def test_texts_and_fasttext_lines(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text('{"text": "A boat", "labels": ["sea"]}\n' * 9)
    run("learn", tmp_path / "train.jsonl", "--model", tmp_path / "model")
    expected = run("predict", tmp_path / "model", "-", input='{"text": "One Boat"}\n').stdout
    assert expected.startswith("sea:")
    assert run("predict", tmp_path / "model", "-", input="__label__x one boat\n").stdout == expected


def test_explain(folder: Path) -> None:
    model, X, _ = opened(folder)
    label = model.predict_topk(X[7:8], 1).labels.tolist()[0][0]
    report = run_json("explain", folder / "model", folder / "test", "--row", 7)
    expected = model.explain(X[7:8], label)
    assert (report["label"], report["probability"]) == (label, pytest.approx(expected.probability))
    found = [entry["feature"] for entry in report["trees"][0][-1]["features"]]
    assert found == [contribution.feature for contribution in expected.paths[0][-1].contributions]
    assert "--row" in run("explain", folder / "model", folder / "test", "--row", 41, exit_code=2).stderr


def test_evaluate(folder: Path) -> None:
    """Labels that the model does not know are labels that it did not find."""
    model, X, y = opened(folder)
    report = run_json("evaluate", folder / "model", folder / "test")
    ranking = model.predict_topk(X, 5).labels.tolist()
    (train,) = read_stream(folder / "train")
    weights = metrics.inverse_propensity(train.y)
    expected = metrics.evaluate(y, ranking, inverse_propensity=weights)
    assert report["metrics"] == pytest.approx(expected)
    assert expected["recall@5"] < 1
    assert (report["rows"], report["labels"]) == (41, 12)


def test_info(folder: Path) -> None:
    report = run_json("info", folder / "model", "--verify", "--tree")
    assert (report["estimator"], report["rows"], report["labels"]) == ("OnlineLabelTreeClassifier", 300, 12)
    assert report["parameters"]["policy"] == "complete"
    assert report["trees"][0]["arity"] == 12
    assert "300 rows" in run("info", folder / "model").stdout


def test_names_for_numbers_and_numbers_for_names(folder: Path) -> None:
    model, _, _ = opened(folder)
    wrong = b" 3:1\n" if model.named_features_ else b'{"text": "boat"}\n'
    wanted, found = "texts or named features", "rows of numbers"
    if not model.named_features_:
        wanted, found = found, f"{wanted} (jsonl)"
    message = f"<stdin>: expected {wanted}, as the model has learned, got {found}\n"
    for command in ("predict", "evaluate", "explain"):
        text = wrong if command != "evaluate" else wrong.replace(b'"boat"', b'"boat", "labels": []')
        assert message in run(command, folder / "model", "-", input=text, exit_code=1).stderr


def test_weights_stay_as_they_are(folder: Path, tmp_path: Path) -> None:
    result = run("convert", folder / "model", tmp_path / "small", "--weights", "int8", exit_code=1)
    assert "is an online model" in result.stderr
    assert not (tmp_path / "small").exists()


def test_named_features_are_not_for_batch_models(tmp_path: Path) -> None:
    LabelTreeClassifier(random_state=0).fit(np.eye(4), [[0], [1], [2], [3]]).save(tmp_path / "model")
    for command in ("predict", "explain"):
        result = run(command, tmp_path / "model", "-", input='{"text": "boat"}\n', exit_code=1)
        assert "expected rows of numbers, as the model has learned, got texts" in result.stderr
    for options in ([], ["--format", "jsonl"]):
        result = run("evaluate", tmp_path / "model", "-", *options, input='{"text": "boat"}\n', exit_code=1)
        assert "was trained on rows of numbers, but - has texts (jsonl)" in result.stderr

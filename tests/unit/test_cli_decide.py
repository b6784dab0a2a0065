"""`labeltree decide`, and that `predict` and `info` know of it; against the same in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import run, run_json
from tests.noisy_models import TRAINED, VALID, batch_model, online_model

from labeltree import LabelTreeClassifier
from labeltree.data import write_xmlc
from labeltree.decisions import OFO
from labeltree.model_file import load, read_info


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decide")
    write_xmlc(folder / "valid.txt", *VALID)
    batch_model().fit(*TRAINED).save(folder / "model", weights="int8")
    online_model().fit(*TRAINED).save(folder / "online")
    return folder


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "folder")
    return tmp_path / "folder"


def predicted(output: str) -> list[list[int]]:
    return [sorted(int(pair.split(":")[0]) for pair in line.split()) for line in output.splitlines()]


def labels_of(matrix: Any) -> list[list[int]]:
    return [sorted(row.indices.tolist()) for row in matrix]


@pytest.mark.parametrize("kind", ["model", "online"])
@pytest.mark.parametrize("metric", ["micro_f1", "macro_f1", "precision@2"])
def test_decides_as_in_python_and_predicts_so(folder: Path, kind: str, metric: str) -> None:
    model: Any = load(folder / kind)
    model.decide_for(metric, *VALID)
    report = run_json("decide", folder / kind, folder / "valid.txt", "--metric", metric)
    assert report["metric"] == metric
    assert report["value"] == model.decision_.value
    opened: Any = load(folder / kind, verify=True)
    np.testing.assert_array_equal(opened.decision_.threshold, model.decision_.threshold)
    expected = labels_of(model.predict(VALID[0]))
    assert predicted(run("predict", folder / kind, folder / "valid.txt").stdout) == expected
    lines = run("predict", folder / kind, folder / "valid.txt", "--json").stdout.splitlines()
    probabilities = [[entry["probability"] for entry in json.loads(line)["labels"]] for line in lines]
    assert all(row == sorted(row, reverse=True) for row in probabilities)


def test_what_is_asked_for_explicitly_is_given(folder: Path) -> None:
    before = run("predict", folder / "model", folder / "valid.txt").stdout
    run("decide", folder / "model", folder / "valid.txt")
    assert run("predict", folder / "model", folder / "valid.txt").stdout != before
    assert run("predict", folder / "model", folder / "valid.txt", "-k", 5).stdout == before
    above = predicted(
        run("predict", folder / "model", folder / "valid.txt", "-k", 15, "--threshold", 0.4).stdout
    )
    model = LabelTreeClassifier.load(folder / "model")
    assert above == labels_of(model.predict_proba(VALID[0], threshold=0.4))


def test_only_the_decision_changes(folder: Path) -> None:
    before, files = read_info(folder / "model"), {path.name for path in (folder / "model").iterdir()}
    run("decide", folder / "model", folder / "valid.txt", "--n-jobs", 2, "--metric", "macro_f1")
    after = read_info(folder / "model")
    assert (after.parameters, after.weights) == (before.parameters, "int8")
    added = {path.name for path in (folder / "model").iterdir()} - files
    assert [name.split("-")[0] for name in added] == ["decision"]


def test_ofo_takes_its_options(folder: Path) -> None:
    arguments = (
        "--metric",
        "macro_f1",
        "--method",
        "ofo",
        "--a",
        3,
        "--b",
        12,
        "--epochs",
        2,
        "--floor",
        0.05,
    )
    run("decide", folder / "model", folder / "valid.txt", *arguments)
    model = LabelTreeClassifier.load(folder / "model")
    decided = model.decision_.threshold
    model.decide_for("macro_f1", *VALID, method=OFO(3, 12, 2), floor=0.05)
    np.testing.assert_array_equal(decided, model.decision_.threshold)


def test_says_what_was_decided(folder: Path) -> None:
    printed = run("decide", folder / "model", folder / "valid.txt").stdout
    decision = LabelTreeClassifier.load(folder / "model").decision_
    rounded = f"{100 * decision.value:.2f} % on {folder / 'valid.txt'}"
    assert f"model: threshold {decision.threshold:.3g}, for micro_f1 ({rounded})" in printed
    assert f"Next: labeltree predict {folder / 'model'} NEW_DATA" in printed
    assert f"threshold {decision.threshold:.3g}, for micro_f1" in run("info", folder / "model").stdout
    assert run_json("info", folder / "model")["decision"]["threshold"] == decision.threshold
    assert "the most probable label, for precision@1" in run("decide", folder / "model", "-m", "P@1").stdout


def test_a_model_that_nobody_decided_for_says_so(folder: Path) -> None:
    assert run_json("info", folder / "model")["decision"] == {
        "metric": "hamming",
        "method": "fixed",
        "threshold": 0.5,
        "k": None,
        "value": None,
    }


def test_rows_without_any_predicted_label_are_empty_lines(folder: Path) -> None:
    model = LabelTreeClassifier.load(folder / "model")
    model.decision_ = type(model.decision_)("micro_f1", "exact", 1.0)
    model.save(folder / "model")
    assert run("predict", folder / "model", folder / "valid.txt").stdout == "\n" * VALID[0].shape[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["valid.txt", "--metric", "accuracy"], "metric must be a name such as"),
        (["valid.txt", "--a", "3"], "--a works only with --method ofo"),
        (["valid.txt", "--method", "ofo", "--a", "3"], "a must be at most b"),
        (["--metric", "micro_f2"], "thresholds for micro_f2 are tuned on labelled rows: give a file VALID"),
    ],
)
def test_wrong_options(folder: Path, arguments: list[str], message: str) -> None:
    output = run("decide", folder / "model", *arguments, exit_code=2).output
    assert message in " ".join(output.replace("│", " ").split())
    assert '"decision"' not in (folder / "model" / "model.json").read_text()

"""`labeltree calibrate`, against `calibrate` in Python."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import make_rows, run, run_json, write_rows, write_texts

from labeltree import LabelTreeClassifier
from labeltree.calibration import measure_calibration
from labeltree.data import read_xmlc
from labeltree.errors import ModelFileError
from labeltree.model_file.lock import ModelLock
from labeltree.text import Tagger


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_rows(folder / "train.txt", make_rows(200, seed=1))
    write_rows(folder / "valid.txt", make_rows(61, seed=2))
    run(
        "train",
        folder / "train.txt",
        "--model",
        folder / "numbers",
        "--max-leaves",
        3,
        "--arity",
        2,
        "--n-jobs",
        2,
    )
    write_texts(folder / "train.jsonl", 80, seed=1)
    write_texts(folder / "valid.jsonl", 30, seed=2)
    run("train", folder / "train.jsonl", "--model", folder / "texts", "--max-leaves", 3, "--arity", 2)
    return folder


@pytest.fixture
def model(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "numbers", tmp_path / "model"))


@pytest.mark.parametrize("method", ["isotonic", "platt"])
def test_saves_the_calibration_of_python(folder: Path, model: Path, method: str) -> None:
    X, y = read_xmlc(folder / "valid.txt")
    expected = LabelTreeClassifier.load(model).calibrate(X, y, method=method)
    page = run("calibrate", model, folder / "valid.txt", "--method", method, "--n-jobs", 1).stdout
    assert f"{model}: calibrated with {method} maps on 61 rows" in page
    found = LabelTreeClassifier.load(model)
    assert found.calibration_.method == method
    assert found.n_jobs == 2  # only the calibration changes
    for one, other in zip(found.predict_topk(X, 5), expected.predict_topk(X, 5), strict=True):
        np.testing.assert_array_equal(one, other)
    assert f"{method}, level by level" in run("info", model).stdout
    assert run_json("info", model)["calibration"] == method


def test_the_figures_are_measured_on_rows_that_no_map_was_fitted_on(folder: Path, model: Path) -> None:
    X, y = read_xmlc(folder / "valid.txt")
    original = LabelTreeClassifier.load(model)
    report = run_json("calibrate", model, folder / "valid.txt")
    assert report["cross_fitted"]
    assert (report["rows"], report["method"], report["dropped_decision"]) == (61, "isotonic", None)
    order = np.random.RandomState(0).permutation(61)
    halves = [np.sort(order[::2]), np.sort(order[1::2])]
    before, after = [], []
    for half, other in zip(halves, reversed(halves), strict=True):
        before.append(measure_calibration(original, X[other], y[other]).labels.log_loss_per_row)
        fitted = LabelTreeClassifier.load(folder / "numbers").calibrate(X[half], y[half])
        after.append(measure_calibration(fitted, X[other], y[other]).labels.log_loss_per_row)
    sizes = [30, 31]
    assert report["before"]["log_loss_per_row"] == pytest.approx(np.average(before, weights=sizes))
    assert report["after"]["log_loss_per_row"] == pytest.approx(np.average(after, weights=sizes))
    # On its own rows, a calibration looks better than it is.
    own = measure_calibration(LabelTreeClassifier.load(model), X, y).labels.log_loss_per_row
    assert own < report["after"]["log_loss_per_row"]


def test_few_rows_are_not_divided_and_the_page_says_so(folder: Path, model: Path, tmp_path: Path) -> None:
    few = write_rows(tmp_path / "few.txt", make_rows(19, seed=3))
    page = " ".join(run("calibrate", model, few).stdout.split())
    assert "measured on the rows of calibration, because they are few" in page
    assert "cross-fitting" not in page
    assert not run_json("calibrate", model, few)["cross_fitted"]
    assert "each half with maps of the other half" in run("calibrate", model, folder / "valid.txt").stdout


def test_texts_and_labels_that_the_model_does_not_know(folder: Path, tmp_path: Path) -> None:
    model = shutil.copytree(folder / "texts", tmp_path / "model")
    valid = tmp_path / "valid.jsonl"
    valid.write_text(
        (folder / "valid.jsonl").read_text() + '{"text": "left1", "labels": ["news", "left1"]}\n'
    )
    report = run_json("calibrate", model, valid)
    assert report["rows"] == 31
    assert Tagger.load(model).classifier_.calibration_.method == "isotonic"


def test_thresholds_are_dropped(folder: Path, model: Path) -> None:
    run("decide", model, folder / "valid.txt", "--metric", "macro_f1")
    page = run("calibrate", model, folder / "valid.txt").stdout
    assert "The thresholds for macro_f1 are dropped: tune them again." in page
    assert f"labeltree decide {model} {folder / 'valid.txt'} --metric macro_f1" in page
    assert run_json("info", model)["decision"]["metric"] == "hamming"
    run("decide", model, "--metric", "precision@3")
    assert run_json("calibrate", model, folder / "valid.txt")["dropped_decision"] == "precision@3"


def test_the_same_command_gives_the_same_bytes(folder: Path, model: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder / "numbers", tmp_path / "other")
    for path in (model, other):
        run("calibrate", path, folder / "valid.txt")
    files = [{file.name: file.read_bytes() for file in path.iterdir()} for path in (model, other)]
    assert files[0] == files[1]


def test_models_without_calibration(folder: Path, tmp_path: Path) -> None:
    run("train", folder / "train.txt", "--model", tmp_path / "fastxml", "--method", "fastxml", "--n-trees", 2)
    result = run("calibrate", tmp_path / "fastxml", folder / "valid.txt", exit_code=2)
    assert "FastXMLClassifier has no calibration" in result.stderr
    run("learn", folder / "train.txt", "--model", tmp_path / "online")
    result = run("calibrate", tmp_path / "online", folder / "valid.txt", exit_code=2)
    assert "freeze it in Python" in " ".join(result.stderr.replace("│", " ").split())


def test_a_file_that_is_wrong_leaves_the_model_as_it_was(model: Path, tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in model.iterdir()}
    (tmp_path / "wrong.txt").write_text("0 0:1\nnonsense\n")
    run("calibrate", model, tmp_path / "wrong.txt", exit_code=1)
    assert {file.name: file.read_bytes() for file in model.iterdir()} == before


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("calibrate", "labeltree.cli.labelled_rows.read_labelled_rows"),
        ("decide", "labeltree.cli.labelled_rows.read_labelled_rows"),
        ("name", "labeltree.labels.read_label_names"),
    ],
)
def test_no_change_of_another_process_is_lost(
    command: str, read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that changes a model locks it before it loads it, not only to save it."""
    data, model = write_texts(tmp_path / "texts.jsonl", 60, 0), tmp_path / "model"
    (tmp_path / "names.csv").write_text("id,name\nleft0,The left\n")
    run("train", data, "--model", model)
    module, _, function = read.rpartition(".")
    read_file = getattr(import_module(module), function)
    messages = []

    def reading(*arguments: Any, **options: Any) -> Any:
        with pytest.raises(ModelFileError) as error:
            ModelLock(model, "saves this model", wait_seconds=0)
        messages.append(str(error.value))
        return read_file(*arguments, **options)

    monkeypatch.setattr(read, reading)
    run(command, model, tmp_path / "names.csv" if command == "name" else data)
    assert len(messages) == 1
    assert f"changes this model (labeltree {command})" in messages[0]
    with ModelLock(model, "saves this model", wait_seconds=0):
        pass

"""`labeltree train --mix`, and the options of networks that need no torch to be refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.command_line import make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import MixedModel
from labeltree.text import Tagger


def write(path: Path, n_texts: int, seed: int) -> Path:
    rows = zip(*labelled_texts(n_texts, seed), strict=True)
    lines = [json.dumps({"text": text, "title": text[:12], "labels": labels}) for text, labels in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "train.jsonl", 120, seed=0)


@pytest.fixture(scope="module")
def test_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "test.jsonl", 30, seed=1)


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "mix"
    printed = run("train", data, "--model", path, "--method", "extremetext", "--mix", "linear").stdout
    assert "mix of" in printed
    assert "% linear and" in printed
    assert "MixedModel" in printed
    assert "labeltree tag" in printed
    return path


def in_words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_the_model_is_that_of_a_tagger(data: Path, model: Path) -> None:
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    texts, labels = [line["text"] for line in lines], [line["labels"] for line in lines]
    tagger = Tagger(method="extremetext", mix="linear").set_params(classifier__random_state=0)
    expected = tagger.fit(texts, labels).predict_topk(texts[:5], 3)
    found = Tagger.load(model).predict_topk(texts[:5], 3)
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.probabilities.tolist() == expected.probabilities.tolist()


def test_commands_take_it(model: Path, test_data: Path, tmp_path: Path) -> None:
    assert run_json("evaluate", model, test_data)["rows"] == 30
    assert run("predict", model, test_data, "--k", 1).stdout.count("\n") == 30
    assert "sea" in run("tag", model, "A boat and a sailor").stdout
    assert "members" in run("info", model).stdout
    shown = run("explain", model, test_data, "--row", 0).stdout
    text = json.loads(test_data.read_text().splitlines()[0])["text"].lower()
    assert any(word in shown.lower() for word in text.split())
    copied = tmp_path / "copy"
    MixedModel.load(model).save(copied)
    assert "micro_f1" in run("decide", copied, test_data, "--metric", "micro_f1").stdout
    refused = run("calibrate", model, test_data, exit_code=2)
    assert "calibrate its members in Python" in in_words(refused.stderr)


def test_as_json_with_fields(data: Path, test_data: Path, tmp_path: Path) -> None:
    given = [
        "--method",
        "extremetext",
        "--mix",
        "linear",
        "--holdout",
        0.2,
        "--text",
        "title=2",
        "--text",
        "text",
    ]
    printed = run_json("train", data, "--model", tmp_path / "mix", *given)
    assert printed["estimator"] == "MixedModel"
    assert printed["mix"]["holdout"] == 0.2
    assert list(printed["mix"]["shares"]) == ["linear", "ExtremeTextClassifier"]
    assert sum(printed["mix"]["shares"].values()) == pytest.approx(1)
    assert run_json("evaluate", tmp_path / "mix", test_data)["rows"] == 30
    assert Tagger.load(tmp_path / "mix").model_.text_fields == ("title", "text")
    run("train", data, "--model", tmp_path / "mix", *given)  # a model of the same kind is replaced


def test_another_kind_is_kept(data: Path, model: Path) -> None:
    refused = run("train", data, "--model", model, exit_code=1)
    assert "has a model of another kind, a MixedModel" in in_words(refused.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--holdout", "0.2"], "add --mix linear"),
        (["--mix", "linear", "--holdout", "1.5"], "expected a share between 0 and 1, got 1.5"),
        (["--mix", "linear", "--tune", "5s"], "does not work with --mix"),
        (["--mix", "linear", "--weights", "int8"], "does not work with --mix"),
        (["--mix", "linear", "--method", "extremetext", "--stream"], "does not work with --mix"),
        (["--mix", "linear", "--method", "pfastrexml"], "not of pfastrexml"),
        (["--mix", "cubic"], "cubic"),
        (["--method", "encoder", "--tune", "5s"], "--tune is an option of label-tree, not of encoder"),
        (["--method", "encoder", "--stream"], "--stream is an option of extremetext and fasttext"),
        (
            ["--method", "encoder", "--encoder", "x", "--min-df", "2"],
            "is for the linear model of --mix linear",
        ),
        (["--method", "encoder", "--encoder", "x", "--n-features", "64"], "is for the linear model"),
        (["--method", "attentionxml", "--text", "text=2"], "is for the linear model of --mix linear"),
    ],
)
def test_wrong_options(data: Path, tmp_path: Path, options: list[str], message: str) -> None:
    refused = run("train", data, "--model", tmp_path / "model", *options, exit_code=2)
    assert message in in_words(refused.stderr)
    assert not (tmp_path / "model").exists()


def test_a_mix_of_numbers_is_refused(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.txt", make_rows(20, seed=0))
    refused = run("train", rows, "--model", tmp_path / "model", "--mix", "linear", exit_code=1)
    assert "--mix expects texts, got rows of numbers (xmlc)" in in_words(refused.stderr)


def test_rows_of_numbers_for_a_mix_of_different_features(model: Path, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.txt", make_rows(5, seed=0))
    refused = run("evaluate", model, rows, exit_code=1)
    assert "was trained on texts" in in_words(refused.stderr)


@pytest.mark.parametrize("method", ["attentionxml", "encoder"])
def test_torch_is_missing(method: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    encoder = ["--encoder", "some/encoder"] if method == "encoder" else []
    refused = run("train", data, "--model", tmp_path / "model", "--method", method, *encoder, exit_code=1)
    assert "pip install 'labeltree[torch]'" in in_words(refused.stderr)


@pytest.mark.parametrize("method", ["attentionxml", "encoder"])
def test_help_pages_of_networks(method: str) -> None:
    page = run("train", "--method", method, "--help").stdout
    assert "Train a neural network on labelled texts" in page
    assert f"--method {method}" in page
    assert ("--encoder" in page) == (method == "encoder")
    assert "--device" in page
    assert "--ngram-range" not in page
    assert "--mix linear" in run("train", "--method", method, "--help-all").stdout

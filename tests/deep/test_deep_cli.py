"""The commands with neural networks: `labeltree train --method encoder`, and what its models are asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import AttentionXMLClassifier
from labeltree.text import Tagger

torch = pytest.importorskip("torch")

QUICK = ["--epochs", 6, "--batch-size", 16, "--learning-rate", 3e-3, "--node-rate", 3e-2, "--n-jobs", 1]
SMALL = ["--epochs", 1, "--hidden", 4, "--shared", 4, "--dimension", 8, "--n-jobs", 1]


def write(path: Path, n_texts: int, seed: int) -> Path:
    rows = zip(*labelled_texts(n_texts, seed), strict=True)
    lines = [json.dumps({"text": text, "title": text[:12], "labels": labels}) for text, labels in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "train.jsonl", 120, seed=0)


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "valid.jsonl", 40, seed=1)


@pytest.fixture(scope="module", params=["encoder", "attentionxml", "mix"])
def model(
    request: pytest.FixtureRequest, data: Path, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("models") / request.param
    given = {
        "encoder": ["--method", "encoder", "--encoder", tiny_encoder, *QUICK],
        "attentionxml": ["--method", "attentionxml", *SMALL],
        "mix": ["--method", "encoder", "--encoder", tiny_encoder, *QUICK, "--mix", "linear", "--min-df", 2],
    }[request.param]
    printed = run("train", data, "--model", path, *given).stdout
    assert "120 texts, 5 labels" in printed
    assert ("mix of" in printed) == (request.param == "mix")
    assert "labeltree tag" in printed
    run("train", data, "--model", path, *given)  # the same kind is replaced
    return path


def in_words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_every_command_takes_the_model(model: Path, valid: Path) -> None:
    assert run_json("evaluate", model, valid)["rows"] == 40
    assert run("predict", model, valid, "--k", 1).stdout.count("\n") == 40
    assert len(run("tag", model, "-k", 2, "A boat and a sailor").stdout.splitlines()) == 2
    assert "labels" in run("info", model).stdout
    explained = run_json("explain", model, valid, "--label", "sea")
    text = json.loads(valid.read_text().splitlines()[0])["text"]
    features = [f["feature"] for path in explained["trees"] for step in path for f in step["features"]]
    assert features
    assert all(str(feature) in text for feature in features)
    assert run("explain", model, valid).stdout.startswith("label ")
    assert "micro_f1" in run("decide", model, valid, "--metric", "micro_f1").stdout
    assert Tagger.load(model).decision_.metric == "micro_f1"


def test_calibrate(model: Path, valid: Path) -> None:
    if model.name == "encoder":
        assert "calibrated with platt maps" in run("calibrate", model, valid, "--method", "platt").stdout
    else:
        assert "has no calibration" in in_words(run("calibrate", model, valid, exit_code=2).stderr)


def test_rows_of_numbers_are_refused(model: Path, tmp_path: Path, tiny_encoder: Path) -> None:
    rows = write_rows(tmp_path / "rows.txt", make_rows(5, seed=0))
    refused = run("predict", model, rows, exit_code=1)
    assert "expected texts, as the model has learned, got rows of numbers" in in_words(refused.stderr)
    arguments = ["--model", tmp_path / "model", "--method", "encoder", "--encoder", tiny_encoder]
    refused = run("train", rows, *arguments, exit_code=1)
    assert "--method encoder expects texts, got rows of numbers (xmlc)" in in_words(refused.stderr)


def test_several_columns_are_joined(data: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    columns = ["--text", "title", "--text", "text"]
    arguments = ["--method", "encoder", "--encoder", tiny_encoder, "--epochs", 1, "--n-jobs", 1, *columns]
    run("train", data, "--model", tmp_path / "model", *arguments)
    assert run("predict", tmp_path / "model", data, *columns).stdout.count("\n") == 120


def test_names_of_labels(data: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("label,name\nsea,boat harbour\ncity,street\n")
    arguments = [
        "--method",
        "encoder",
        "--encoder",
        tiny_encoder,
        "--epochs",
        1,
        "--label-names",
        tmp_path / "names.csv",
    ]
    printed = run("train", data, "--model", tmp_path / "named", *arguments, "--name-vectors").stdout
    assert "2 of 5 labels have names" in printed
    run("train", data, "--model", tmp_path / "plain", *arguments)
    named, plain = (Tagger.load(tmp_path / name) for name in ("named", "plain"))
    assert dict(named.label_names_ or {}) == {"sea": "boat harbour", "city": "street"}
    assert named.tag("A boat") != plain.tag("A boat")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "encoder"], "--encoder: expected the directory of a pretrained encoder"),
        (["--method", "encoder", "--encoder", "no/such/directory"], "'no/such/directory' does not exist"),
        (["--method", "encoder", "--encoder", "{data}"], "is a file"),
        (["--method", "attentionxml", "--device", "cuda:99"], "--device cuda:99 asks for a GPU"),
        (["--method", "attentionxml", "--device", "tpu"], "the parameter 'device' must be 'auto'"),
    ],
)
def test_wrong_options(options: list[str], message: str, data: Path, tmp_path: Path) -> None:
    words = [word.format(data=data) for word in options]
    refused = run("train", data, "--model", tmp_path / "model", *words, exit_code=2)
    assert message in in_words(refused.stderr)


def test_too_little_memory(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(AttentionXMLClassifier, "train", fail)
    refused = run("train", data, "--model", tmp_path / "model", "--method", "attentionxml", exit_code=1)
    said = in_words(refused.stderr)
    assert "the memory does not suffice for this training: lower batch_size (now 128), max_tokens" in said

"""Columns of texts, labels and ids on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import run, run_json

from labeltree import LabelTreeClassifier

RECORDS = [
    {"nr": f"r{i}", "title": f"{word} {i}", "abstract": f"about {word}", "subjects": f"{word}; {kind} ;"}
    for i, (word, kind) in enumerate(
        [("boat", "sea"), ("ship", "sea"), ("hill", "land"), ("field", "land")] * 8
    )
]
COLUMNS = ["--text", "title", "--text", "abstract", "--labels", "subjects", "--separator", ";", "--id", "nr"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns")
    (folder / "own.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    usual = [
        {
            "text": f"{record['title']}\n{record['abstract']}",
            "labels": [label.strip() for label in record["subjects"].split(";")[:2]],
        }
        for record in RECORDS
    ]
    (folder / "usual.jsonl").write_text("".join(json.dumps(record) + "\n" for record in usual))
    for name, options in (("own", COLUMNS), ("usual", [])):
        run("train", folder / f"{name}.jsonl", "--model", folder / name, "--random-state", 0, *options)
    return folder


def test_train_joins_columns_and_splits_labels(folder: Path) -> None:
    own, usual = (LabelTreeClassifier.load(folder / name) for name in ("own", "usual"))
    assert (
        own.classes_.tolist()
        == usual.classes_.tolist()
        == sorted({"boat", "ship", "hill", "field", "sea", "land"})
    )
    assert own.model_.vectorizer.vocabulary_ == usual.model_.vectorizer.vocabulary_
    texts = ["a boat on a hill"]
    rows = [model.predict_proba(model.model_.text_rows(texts)).toarray() for model in (own, usual)]
    np.testing.assert_array_equal(*rows)


def test_evaluate_decide_and_predict_read_the_same_columns(folder: Path) -> None:
    own = [folder / "own", folder / "own.jsonl"]
    usual = [folder / "usual", folder / "usual.jsonl"]
    metrics = [run_json("evaluate", *own, *COLUMNS)["metrics"], run_json("evaluate", *usual)["metrics"]]
    assert metrics[0] == metrics[1]
    lines = run("predict", *own, *COLUMNS).stdout, run("predict", *usual).stdout
    assert [line.split("\t")[-2:] for line in lines[0].splitlines()] == [
        line.split("\t")[-2:] for line in lines[1].splitlines()
    ]
    assert run_json("decide", *own, *COLUMNS)["value"] == run_json("decide", *usual)["value"]


def test_a_column_that_is_not_there(folder: Path) -> None:
    result = run("evaluate", folder / "own", folder / "own.jsonl", "--text", "heading", exit_code=1)
    assert "own.jsonl:1: expected an object with the key 'heading', got the keys 'nr', 'title'" in " ".join(
        result.stderr.split()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", ""], "expected the name of a column, got ''"),
        (["--labels", ""], "expected the name of a column, got ''"),
        (["--separator", ""], "expected at least one character, got ''"),
        (["--text", "title=2", "--text", "title=3"], "expected every column once"),
    ],
)
def test_wrong_columns_are_told(options: list[str], message: str, folder: Path, tmp_path: Path) -> None:
    result = run("train", folder / "own.jsonl", "--model", tmp_path / "model", *options, exit_code=2)
    assert message in " ".join(result.output.split())


def test_a_key_that_no_object_has_is_told(folder: Path, tmp_path: Path) -> None:
    options = ["--text", "title", "--text", "abztract=2", "--labels", "subjects"]
    result = run("train", folder / "own.jsonl", "--model", tmp_path / "model", *options, exit_code=1)
    assert "expected texts as 'abztract' (--text), got none" in result.output


def test_other_weights_than_those_of_the_model_are_told(folder: Path, tmp_path: Path) -> None:
    model, data = tmp_path / "model", folder / "own.jsonl"
    weights = ["--text", "title=2", "--text", "abstract"]
    run("train", data, "--model", model, *weights, "--labels", "subjects")
    assert run("predict", model, data, *weights).stdout == run("predict", model, data).stdout
    for command in (["predict", model, data], ["convert", data, tmp_path / "texts.csv"]):
        result = run(*command, "--text", "title=5", exit_code=2)
        assert "training sets the weight of 'title'" in result.output


def test_a_file_named_as_standard_input_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("train", folder / "own.jsonl", "--model", tmp_path / "model", *COLUMNS)
    (tmp_path / "-").write_text("not read")
    monkeypatch.chdir(tmp_path)
    given = (folder / "own.jsonl").read_bytes()
    report = run_json("evaluate", "model", "-", "--labels", "subjects", "--separator", ";", input=given)
    assert report["rows"] == len(RECORDS)


def test_closed_standard_input_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from labeltree.data import read_texts

    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(OSError, match="standard input is closed"):
        read_texts("-")

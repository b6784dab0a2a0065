"""Every command reads every format of texts."""

from __future__ import annotations

import inspect
import io
import json
import os
import threading
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest
from tests.command_line import run, run_json

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.cli.data_file import DataFormat
from labeltree.cli.tune import tune
from labeltree.data import read_texts
from labeltree.data.formats import FORMATS
from labeltree.tuning.space import SEARCHED, TEXT_SEARCHED

ROWS = [
    (f"r{i}", f"{word} number {i}", f"a {kind} story", [word, kind])
    for i, (word, kind) in enumerate(
        [("boat", "sea"), ("ship", "sea"), ("hill", "land"), ("field", "land")] * 10
    )
]
FRAME = pd.DataFrame(ROWS, columns=["nr", "title", "abstract", "subjects"])
JOINED = FRAME.assign(subjects=FRAME["subjects"].map("; ".join))
FASTTEXT = "".join(
    f"{' '.join(f'__label__{label}' for label in labels)} {title} {abstract}\n"
    for _, title, abstract, labels in ROWS
)
TEXT = ["--text", "title", "--text", "abstract"]
LABELS = ["--labels", "subjects", "--separator", ";"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers")
    JOINED.to_csv(folder / "texts.csv", index=False)
    JOINED.to_csv(folder / "texts.tsv.gz", index=False, sep="\t")
    FRAME.to_json(folder / "texts.jsonl", orient="records", lines=True)
    FRAME.to_parquet(folder / "texts.parquet")
    FRAME.to_feather(folder / "texts.feather")
    (folder / "texts.txt").write_text(FASTTEXT)
    run("train", folder / "texts.csv", "--model", folder / "model", *TEXT, *LABELS)
    run("train", folder / "texts.txt", "--model", folder / "fasttext")
    run("learn", folder / "texts.csv", "--model", folder / "online", *TEXT, *LABELS)
    return folder


FILES = ["texts.csv", "texts.tsv.gz", "texts.jsonl", "texts.parquet", "texts.feather"]


def model_files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.suffix == ".safetensors"}


@pytest.mark.parametrize("file", FILES)
class TestFiles:
    def test_train(self, file: str, folder: Path, tmp_path: Path) -> None:
        run("train", folder / file, "--model", tmp_path / "model", *TEXT, *LABELS)
        assert model_files(tmp_path / "model") == model_files(folder / "model")

    def test_standard_input(self, file: str, folder: Path, tmp_path: Path) -> None:
        if file.endswith(".gz"):
            pytest.skip("standard input is not decompressed")
        run("train", "-", "--model", tmp_path / "model", *TEXT, *LABELS, input=(folder / file).read_bytes())
        assert model_files(tmp_path / "model") == model_files(folder / "model")

    def test_commands_read_the_columns_of_the_model(self, file: str, folder: Path) -> None:
        reports = [
            run_json("evaluate", folder / "model", folder / name, *LABELS) for name in (file, FILES[0])
        ]
        assert reports[0]["metrics"] == reports[1]["metrics"]
        lines = run("predict", folder / "model", folder / file, "--id", "nr", "-k", 2).stdout.splitlines()
        assert [line.split("\t")[0] for line in lines] == FRAME["nr"].tolist()
        assert (
            sum(
                {pair.split(":")[0] for pair in line.split("\t")[1:]} == {*row[3]}
                for line, row in zip(lines, ROWS, strict=True)
            )
            > 35
        )
        assert "boat" in run("explain", folder / "model", folder / file, "--label", "boat").stdout

    def test_decide(self, file: str, folder: Path, tmp_path: Path) -> None:
        LabelTreeClassifier.load(folder / "model").save(tmp_path / "model")
        assert run_json("decide", tmp_path / "model", folder / file, *LABELS)["value"] > 0.9

    def test_calibrate_compare_and_tune(self, file: str, folder: Path, tmp_path: Path) -> None:
        LabelTreeClassifier.load(folder / "model").save(tmp_path / "model")
        data = [folder / file, *LABELS]
        run("calibrate", tmp_path / "model", *data)
        report = run_json("compare", folder / "model", tmp_path / "model", *data, "--id", "nr")
        assert report["rows"] == len(ROWS)
        tuned = [
            *data,
            *TEXT,
            "--valid",
            folder / FILES[0],
            "--budget",
            "0.2s",
            "--out",
            tmp_path / "out.json",
        ]
        assert run_json("tune", *tuned)["valid_rows"] == len(ROWS)

    def test_learn(self, file: str, folder: Path, tmp_path: Path) -> None:
        run("learn", folder / file, "--model", tmp_path / "online", *TEXT, *LABELS)
        expected = OnlineLabelTreeClassifier.load(folder / "online")
        found = OnlineLabelTreeClassifier.load(tmp_path / "online")
        assert found.n_examples_ == expected.n_examples_ == len(ROWS)
        assert (
            found.predict_topk([{"boat": 1.0}]).probabilities.tolist()
            == expected.predict_topk([{"boat": 1.0}]).probabilities.tolist()
        )

    def test_convert(self, file: str, folder: Path, tmp_path: Path) -> None:
        expected = read_texts(FRAME, text=["title", "abstract"], labels="subjects", id="nr")
        for target in ("out.jsonl", "out.csv", "out.tsv.gz"):
            run("convert", folder / file, tmp_path / target, *TEXT, *LABELS, "--id", "nr")
            assert read_texts(tmp_path / target, separator=";", id="id") == expected
        run("convert", folder / file, tmp_path / "out.txt", *TEXT, *LABELS, "--to", "fasttext")
        assert (tmp_path / "out.txt").read_text() == FASTTEXT

    def test_tree_build(self, file: str, folder: Path, tmp_path: Path) -> None:
        options = [*TEXT, *LABELS, "--max-leaves", 2, "--arity", 2]
        run("tree", "build", folder / file, "--out", tmp_path / "tree.json", *options)
        run(
            "train",
            folder / file,
            "--model",
            tmp_path / "model",
            *TEXT,
            *LABELS,
            "--tree",
            tmp_path / "tree.json",
        )
        run("train", folder / file, "--model", tmp_path / "same", *options)
        assert model_files(tmp_path / "model") == model_files(tmp_path / "same")


def test_weights_of_columns(folder: Path, tmp_path: Path) -> None:
    run(
        "train",
        folder / "texts.csv",
        "--model",
        tmp_path / "model",
        "--text",
        "title=2.5",
        "--text",
        "abstract",
        *LABELS,
    )
    model: Any = LabelTreeClassifier.load(tmp_path / "model")
    assert model.model_.vectorizer.fields == {"title": 2.5, "abstract": 1.0}
    rows = [{"title": row[1], "abstract": row[2]} for row in ROWS]
    labels = model.predict_topk(model.model_.text_rows(rows), 1).labels[:, 0].tolist()
    lines = run("predict", tmp_path / "model", folder / "texts.parquet", "-k", 1).stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == labels
    # Chosen columns that are not the model's are read as a text without fields.
    lines = run("predict", tmp_path / "model", folder / "texts.csv", "--text", "nr", "-k", 1).stdout
    assert len({line.split(":")[1] for line in lines.splitlines()}) == 1
    message = run(
        "train", folder / "texts.csv", "--model", tmp_path / "m", "--text", "title=0", *LABELS, exit_code=2
    ).stderr
    assert "got {'title': 0.0}" in " ".join(message.replace("│", " ").split())


def test_fasttext_lines_for_a_model_of_texts(folder: Path) -> None:
    for model in ("fasttext", "model"):
        assert run_json("evaluate", folder / model, folder / "texts.txt")["metrics"]["P@1"] > 0.9
        assert run("predict", folder / model, "-", "-k", 1, input="boat\n__label__x a boat\n", exit_code=1)
        lines = run("predict", folder / model, "-", "-k", 1, input="__label__x a boat\n").stdout
        assert lines.split(":")[0] in ("boat", "sea")


def test_columns_are_for_files_that_have_them(folder: Path) -> None:
    result = run("evaluate", folder / "fasttext", folder / "texts.txt", "--labels", "subjects", exit_code=1)
    assert "texts.txt: fasttext files have no columns" in result.stderr
    result = run("train", "-", "--model", folder / "m", "--id", "nr", input="0 1:1\n", exit_code=2)
    assert "an option for files with columns" in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
@pytest.mark.parametrize("content", [FASTTEXT, "0,1 0:1 2:1\n1 1:1\n" * 20_000])
def test_a_named_pipe_is_read_once(content: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text(content)
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(content,))
    writer.start()
    reports = [
        run_json("train", tmp_path / name, "--model", tmp_path / f"{name}.model") for name in ("pipe", "file")
    ]
    writer.join()
    assert reports[0]["rows"] == reports[1]["rows"] == content.count("\n")
    assert model_files(tmp_path / "pipe.model") == model_files(tmp_path / "file.model")


def test_what_is_not_understood(folder: Path, tmp_path: Path) -> None:
    for command in (["train", "-", "--model", tmp_path / "m"], ["predict", folder / "model", "-"]):
        result = run(*command, input="Dear all,\n", exit_code=1)
        assert "<stdin>:1: the first line is 'Dear all,', but expected JSON lines" in result.stderr


def test_labels_and_ids_do_not_break_lines(tmp_path: Path) -> None:
    labels = ["two\nlines", "a\ttab", "back\\slash", "plain"]
    lines = "".join(
        json.dumps({"id": f"{label}!", "text": f"word{i % 4} " * 3, "labels": [label]}) + "\n"
        for i, label in enumerate(labels * 5)
    )
    run("train", "-", "--model", tmp_path / "model", input=lines)
    printed = run("predict", tmp_path / "model", "-", "-k", 1, "--id", "id", input=lines).stdout.splitlines()
    escaped = [r"two\nlines", r"a\ttab", r"back\\slash", "plain"]
    assert [line.rpartition(":")[0] for line in printed] == [f"{name}!\t{name}" for name in escaped * 5]
    printed = run(
        "predict", tmp_path / "model", "-", "-k", 1, "--id", "id", "--json", input=lines
    ).stdout.splitlines()
    found = [json.loads(line) for line in printed]
    assert [(row["row"], row["id"], row["labels"][0]["label"]) for row in found] == [
        (i, f"{label}!", label) for i, label in enumerate(labels * 5)
    ]


def test_conversions_that_lose_something(tmp_path: Path) -> None:
    lines = '{"text": "a", "labels": ["sea; old"]}\n'
    assert "without ';'" in run("convert", "-", tmp_path / "a.csv", input=lines, exit_code=1).stderr
    assert (
        "without blanks"
        in run("convert", "-", tmp_path / "a", "--to", "fasttext", input=lines, exit_code=1).stderr
    )
    assert "name one" in run("convert", "-", tmp_path / "a.svm", input=lines, exit_code=2).stderr
    assert "xmlc or libsvm" in " ".join(
        run("convert", "-", tmp_path / "a.csv", input="0 1:1\n", exit_code=2).stderr.replace("│", " ").split()
    )
    assert not list(tmp_path.iterdir())


def test_integer_labels_in_tables(tmp_path: Path) -> None:
    records = [{"title": f"word{i % 3} word{i % 3}", "content": "", "target_ind": [i % 3]} for i in range(12)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    run("train", "-", "--model", tmp_path / "model", input=lines)
    assert LabelTreeClassifier.load(tmp_path / "model").classes_.tolist() == [0, 1, 2]
    table = io.StringIO()
    pd.DataFrame(
        {"text": [record["title"] for record in records], "labels": [i % 3 for i in range(12)]}
    ).to_csv(table)
    reports = [
        run_json("evaluate", tmp_path / "model", "-", input=text) for text in (lines, table.getvalue())
    ]
    assert reports[0]["metrics"] == reports[1]["metrics"]
    assert reports[0]["metrics"]["P@1"] == 1


@pytest.mark.parametrize("label", [" sea", "sea ", ""])
def test_labels_that_a_table_cannot_hold(label: str, tmp_path: Path) -> None:
    (tmp_path / "texts.jsonl").write_text(json.dumps({"text": "boat", "labels": [label]}) + "\n")
    result = run("convert", tmp_path / "texts.jsonl", tmp_path / "texts.csv", exit_code=1)
    assert f"expected labels without blanks around them, got {label!r}" in result.stderr
    assert not (tmp_path / "texts.csv").exists()


@pytest.mark.parametrize("command", ["evaluate", "decide", "calibrate"])
def test_empty_standard_input_is_told(command: str, folder: Path) -> None:
    result = run(command, folder / "fasttext", "-", input=b"", exit_code=1)
    assert "<stdin>:1: expected at least one row, got an empty file" in result.stderr


def test_formats_and_searched_parameters_are_those_of_the_library() -> None:
    """Help pages have lists of their own, because they do not import the library."""
    assert get_args(DataFormat) == ("auto", *FORMATS)
    assert {*SEARCHED, *TEXT_SEARCHED} <= inspect.signature(tune).parameters.keys()

"""Warnings about data that are hardly read as they were meant, and files of the wrong kind."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.command_line import run, run_json

RECORDS = [("a boat at sea", "sea;boat"), ("a ship at sea", "sea;ship"), ("a green hill", "land")] * 10
COLUMNS = ["--text", "title", "--labels", "subjects", "--separator", ";"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suspicious")
    lines = [f'"{title}","{subjects}"\n' for title, subjects in RECORDS]
    (folder / "books.csv").write_text("title,subjects\n" + "".join(lines))
    lines = [
        json.dumps({"title": title, "labels": subjects.split(";")}) + "\n" for title, subjects in RECORDS
    ]
    (folder / "books.jsonl").write_text("".join(lines))
    (folder / "rows.txt").write_text("0,1 0:1 1:2\n1 1:1\n0 0:1\n")
    assert run("train", folder / "books.csv", "--model", folder / "tags", *COLUMNS).stderr == ""
    run("train", folder / "rows.txt", "--model", folder / "numbers")
    return folder


@pytest.mark.parametrize("separator", [[], ["--separator", ","]])
def test_labels_that_are_not_split_are_told(folder: Path, tmp_path: Path, separator: list[str]) -> None:
    columns = ["--text", "title", "--labels", "subjects", *separator]
    told = run("train", folder / "books.csv", "--model", tmp_path / "model", *columns).stderr
    assert told.endswith(
        "labels such as 'sea;boat' are not split. If these are several labels, add --separator ';'\n"
    )


def test_lists_of_labels_may_have_separators(tmp_path: Path) -> None:
    labels = ["boat, fishing; old", "sea | lake"]
    (tmp_path / "texts.jsonl").write_text(json.dumps({"text": "a boat", "labels": labels}) + "\n")
    assert run("train", tmp_path / "texts.jsonl", "--model", tmp_path / "model").stderr == ""


def test_labels_that_are_all_unknown_are_told_instead_of_hints(folder: Path) -> None:
    columns = ["--labels", "subjects"]
    result = run("evaluate", folder / "tags", folder / "books.csv", *columns)
    assert "knows none of the labels" not in result.stderr  # 'land' is one label
    (folder / "sea.csv").write_text('title,subjects\n"a boat","sea;boat"\n')
    result = run("evaluate", folder / "tags", folder / "sea.csv", *columns)
    assert (
        "such as 'sea;boat'; the labels of the model are such as 'boat'. Add --separator ';'?"
        in result.stderr
    )
    assert "Hint" not in result.stdout


def test_models_and_files_of_different_kinds(folder: Path) -> None:
    message = run("evaluate", folder / "tags", folder / "rows.txt", exit_code=1).stderr
    assert f"{folder / 'tags'} was trained on texts, but {folder / 'rows.txt'} has rows of numbers" in message
    # The kind is told before the column that is missing.
    message = run("predict", folder / "numbers", folder / "books.csv", exit_code=1).stderr
    assert "expected rows of numbers, as the model has learned, got texts" in message
    result = run("predict", folder / "tags", folder / "rows.txt")
    assert "has rows of numbers: they are read as the features of its vectorizer" in result.stderr
    assert len(result.stdout.splitlines()) == 3


def test_the_command_after_calibrate_reads_the_same_columns(folder: Path) -> None:
    output = run("calibrate", folder / "tags", folder / "books.csv", *COLUMNS).stdout
    command = shlex.split(output.splitlines()[-1].removeprefix("Next: labeltree "))
    assert "--separator" in command
    assert run_json(*command)["metric"] == "micro_f1"


@pytest.mark.parametrize("command", [("tree", "build"), ("tune", "--budget", "1s")])
def test_the_command_after_another_reads_the_same_columns(
    command: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    output = run(*command, folder / "books.csv", *COLUMNS, "--out", tmp_path / "out.json").stdout
    following = output.splitlines()[-1].removeprefix("Next: labeltree ")
    run(
        *shlex.split(
            following.replace("--model DIR", "--model MODEL").replace("MODEL", str(tmp_path / "model"))
        )
    )


def test_tag_tells_that_a_text_is_the_name_of_a_file(folder: Path) -> None:
    told = run("tag", folder / "tags", str(folder / "books.csv")).stderr
    assert f"'labeltree predict {folder / 'tags'} {folder / 'books.csv'}'" in " ".join(told.split())
    assert run("tag", folder / "tags", "a boat at sea " * 100).stderr == ""


def test_a_label_twice_in_a_row_counts_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text('title,subjects\n"a boat","sea;moon;moon"\n"a hill","land;sea;sea"\n')
    page = tmp_path / "page.html"
    printed = run_json("evaluate", folder / "tags", tmp_path / "test.csv", *COLUMNS, "--report", page)
    assert printed["unknown"]["occurrences"] == 1
    assert "2 rows with 4 labels, 2 per row" in " ".join(page.read_text().split())

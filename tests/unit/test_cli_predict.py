"""`labeltree predict`: what it prints, from files and pipes, whole and block by block."""

from __future__ import annotations

import gzip
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import N_FEATURES, N_LABELS, make_rows, run, run_json, start, write_rows

from labeltree import LabelTreeClassifier, metrics
from labeltree.cli import data_file
from labeltree.data import read_xmlc

ROWS = make_rows(40, seed=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("predict")
    train = write_rows(folder / "train.txt", make_rows(300, seed=1))
    LabelTreeClassifier(random_state=0, max_leaves=3, arity=2).fit(*read_xmlc(train)).save(folder / "model")
    write_rows(folder / "test.txt", ROWS)
    return folder


def expected_rows(folder: Path, k: int, threshold: float = 0.0) -> list[list[tuple[Any, float]]]:
    X, _ = read_xmlc(folder / "test.txt")
    labels, probabilities = LabelTreeClassifier.load(folder / "model").predict_topk(X, k)
    return [
        [pair for pair in zip(*row, strict=True) if pair[1] > 0 and pair[1] >= threshold]
        for row in zip(labels.tolist(), probabilities.tolist(), strict=True)
    ]


def assert_rows(text: str, expected: list[list[tuple[Any, float]]]) -> None:
    """The lines have the expected labels in that order, with their probabilities in six digits."""
    lines = text.splitlines()
    assert len(lines) == len(expected)
    for line, row in zip(lines, expected, strict=True):
        pairs = [word.split(":") for word in line.split()]
        assert [int(label) for label, _ in pairs] == [label for label, _ in row]
        assert [float(p) for _, p in pairs] == pytest.approx([p for _, p in row], rel=1e-5)


@pytest.mark.parametrize(("k", "threshold"), [(1, 0.0), (5, 0.0), (3, 0.5), (N_LABELS + 5, 0.0)])
def test_lines(folder: Path, k: int, threshold: float) -> None:
    result = run(
        "predict", folder / "model", folder / "test.txt", "--k", k, "--threshold", threshold, "--n-jobs", 1
    )
    assert_rows(result.stdout, expected_rows(folder, k, threshold))


@pytest.mark.parametrize("option", [["--json"], ["--output-format", "jsonl"]])
def test_json_lines(folder: Path, option: list[str]) -> None:
    lines = run("predict", folder / "model", folder / "test.txt", "-k", 2, *option).stdout.splitlines()
    expected = expected_rows(folder, 2)
    for number, (line, row) in enumerate(zip(lines, expected, strict=True)):
        record = json.loads(line)
        assert record["row"] == number
        assert [entry["label"] for entry in record["labels"]] == [label for label, _ in row]
        assert [entry["probability"] for entry in record["labels"]] == pytest.approx(
            [p for _, p in row], rel=1e-5
        )


def test_data_file_again(folder: Path, tmp_path: Path) -> None:
    options = ["--threshold", 0.5, "--output-format", "xmlc", "--output", tmp_path / "tagged.txt"]
    run("predict", folder / "model", folder / "test.txt", *options)
    X, _ = read_xmlc(folder / "test.txt")
    tagged, labels = read_xmlc(tmp_path / "tagged.txt", n_features=N_FEATURES)
    assert abs(tagged - X).max() == 0
    assert [sorted(row.indices) for row in labels] == [
        sorted(label for label, _ in row) for row in expected_rows(folder, 5, 0.5)
    ]


def test_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("".join(f"label no {i}: é\n" for i in range(N_LABELS)))
    arguments = [
        "predict",
        folder / "model",
        folder / "test.txt",
        "-k",
        2,
        "--label-names",
        tmp_path / "names.txt",
    ]
    expected = expected_rows(folder, 2)
    for line, row in zip(run(*arguments).stdout.splitlines(), expected, strict=True):
        names = [word.rpartition(":")[0] for word in line.split("\t")]
        assert names == [f"label no {label}: é" for label, _ in row]
    for line, row in zip(run(*arguments, "--json").stdout.splitlines(), expected, strict=True):
        assert [(entry["label"], entry["name"]) for entry in json.loads(line)["labels"]] == [
            (label, f"label no {label}: é") for label, _ in row
        ]


def test_labels_that_are_names_already(tmp_path: Path) -> None:
    model = LabelTreeClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]] * 5, [["cat"], ["dog"]] * 5)
    model.save(tmp_path / "pets")
    assert run("predict", tmp_path / "pets", "-", "-k", 1, input=" 1:1\n 0:1\n").stdout.startswith("dog:")
    names = write_rows(tmp_path / "names.txt", [])
    assert (
        "leave --label-names out"
        in run("predict", tmp_path / "pets", "-", "--label-names", names, input="", exit_code=1).stderr
    )
    assert "numbers from 0" in " ".join(
        run("predict", tmp_path / "pets", "-", "--output-format", "xmlc", input="", exit_code=2)
        .stderr.replace("│", " ")
        .split()
    )


class TestBlocks:
    """Blocks of every size give the same answers, and the same errors, as the whole file."""

    @pytest.fixture(autouse=True, params=[1, 40, 1000])
    def _small_blocks(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(data_file, "BLOCK_BYTES", request.param)

    @pytest.mark.parametrize("source", ["file", "stdin", "gz"])
    def test_answers(self, folder: Path, tmp_path: Path, source: str) -> None:
        text = (folder / "test.txt").read_bytes()
        path: object = folder / "test.txt"
        if source == "gz":
            path = tmp_path / "test.txt.gz"
            (tmp_path / "test.txt.gz").write_bytes(gzip.compress(text))
        # No newline at the end: the last line counts nevertheless.
        result = run(
            "predict", folder / "model", "-" if source == "stdin" else path, "-k", 3, input=text.rstrip(b"\n")
        )
        assert_rows(result.stdout, expected_rows(folder, 3))

    def test_no_header_and_windows_line_ends(self, folder: Path, tmp_path: Path) -> None:
        text = (folder / "test.txt").read_bytes().partition(b"\n")[2].replace(b"\n", b"\r\n")
        (tmp_path / "test.txt").write_bytes(b"\xef\xbb\xbf" + text)
        result = run("predict", folder / "model", tmp_path / "test.txt", "-k", 3)
        assert_rows(result.stdout, expected_rows(folder, 3))

    def test_libsvm_with_comments(self, folder: Path, tmp_path: Path) -> None:
        write_rows(tmp_path / "test.svm", ROWS, header=False, first_feature=1)
        text = "# made by hand\n# in two lines\n" + (tmp_path / "test.svm").read_text() + "# the end\n"
        (tmp_path / "test.svm").write_text(text)
        result = run("predict", folder / "model", tmp_path / "test.svm", "-k", 3)
        assert_rows(result.stdout, expected_rows(folder, 3))

    @pytest.mark.parametrize("line", [2, 17, 41])
    def test_errors_name_the_line(self, folder: Path, tmp_path: Path, line: int) -> None:
        lines = (folder / "test.txt").read_text().splitlines()
        lines[line - 1] = "1 4:abc"
        path = tmp_path / "bad.txt"
        path.write_text("\n".join(lines) + "\n")
        result = run("predict", folder / "model", path, exit_code=1)
        assert f"{path}:{line}: expected 'feature:value' with a number, got '4:abc'" in result.stderr

    def test_unknown_features_say_what_to_do(self, folder: Path) -> None:
        text = (folder / "test.txt").read_text().partition("\n")[2] + "1 99:1\n"
        result = run("predict", folder / "model", "-", input=text, exit_code=1)
        assert (
            f"<stdin>: row 40 has the feature 99, but the largest that the model knows is {N_FEATURES - 1}; "
            "if the files belong together, train with --n-features 100 or more" in result.stderr
        )

    def test_header_that_lies(self, folder: Path) -> None:
        text = (folder / "test.txt").read_text() + " 1:1\n"
        result = run("predict", folder / "model", "-", input=text, exit_code=1)
        assert "<stdin>:1: expected 40 rows, as the header says, got 41" in result.stderr


def test_unknown_labels_do_not_matter(folder: Path) -> None:
    assert run("predict", folder / "model", "-", input="999 1:1\n").stdout.count("\n") == 1


def test_empty_input(folder: Path) -> None:
    for options in ([], ["--json"], ["--output-format", "xmlc"]):
        assert run("predict", folder / "model", "-", *options, input="").stdout == ""
    assert run("predict", folder / "model", "-", input="0 5 3\n").stdout == ""


def test_output_file_is_complete_or_not_there(folder: Path, tmp_path: Path) -> None:
    run("predict", folder / "model", folder / "test.txt", "-k", 3, "-o", tmp_path / "out.gz")
    assert_rows(gzip.decompress((tmp_path / "out.gz").read_bytes()).decode(), expected_rows(folder, 3))
    run("predict", folder / "model", "-", "-o", tmp_path / "bad", input=" 1:1\n 1:x\n", exit_code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["out.gz"]


def test_search_can_be_changed(folder: Path) -> None:
    X, _ = read_xmlc(folder / "test.txt")
    model = LabelTreeClassifier.load(folder / "model").set_params(search="beam", beam=1)
    expected = model.predict_topk(X, 1)
    result = run("predict", folder / "model", folder / "test.txt", "-k", 1, "--search", "beam", "--beam", 1)
    assert_rows(
        result.stdout,
        [[(label, p)] for label, p in zip(expected.labels[:, 0], expected.probabilities[:, 0], strict=True)],
    )
    assert (
        "'beam' must be"
        in run("predict", folder / "model", folder / "test.txt", "--beam", 0, exit_code=2).stderr
    )


@pytest.mark.parametrize(
    ("options", "weight"), [([], [1.0, 9.0]), (["--tree-weight", 9, "--tree-weight", 1], [9.0, 1.0])]
)
def test_trees_can_be_weighed(
    folder: Path, tmp_path: Path, options: list[object], weight: list[float]
) -> None:
    """By the weights that are given, else by those that the model was saved with."""
    model = LabelTreeClassifier(
        n_trees=2, tree=["huffman", "random"], arity=2, max_leaves=2, tree_weight=[1.0, 9.0], random_state=0
    )
    model.fit(*read_xmlc(folder / "train.txt")).save(tmp_path / "model")
    X, y = read_xmlc(folder / "test.txt")
    other = model.set_params(tree_weight=weight[::-1]).predict_topk(X, 5)
    found = model.set_params(tree_weight=weight).predict_topk(X, 5)
    assert not np.allclose(found.probabilities, other.probabilities)
    result = run("predict", tmp_path / "model", folder / "test.txt", "-k", 5, *options)
    assert_rows(
        result.stdout,
        [list(zip(*row, strict=True)) for row in zip(found.labels, found.probabilities, strict=True)],
    )
    report = run_json("evaluate", tmp_path / "model", folder / "test.txt", *options)
    assert report["metrics"]["nDCG@5"] == pytest.approx(metrics.ndcg_at_k(y, found.labels, k=5))
    wrong = run("evaluate", tmp_path / "model", folder / "test.txt", "--tree-weight", 1, exit_code=2)
    assert "--tree-weight must be 2 finite numbers" in " ".join(wrong.stderr.split())


class TestPipes:
    def test_answers_come_row_by_row(self, folder: Path) -> None:
        with start("predict", folder / "model", "-", "-k", 1, stdin=-1) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(3):
                process.stdin.write(b"1 2:1\n")
                process.stdin.flush()
                # The next row is sent only after this answer: waiting for more input would never end.
                assert process.stdout.readline().startswith(b"1:")
            process.stdin.close()
            assert process.wait(timeout=60) == 0

    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_reader_that_goes_away(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
    ) -> None:
        monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
        many = write_rows(tmp_path / "many.txt", ROWS * 500)
        with start("predict", folder / "model", many) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=60) == 141

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
    def test_interrupt(self, folder: Path) -> None:
        with start("predict", folder / "model", "-", stdin=-1) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.write(b"1 2:1\n")
            process.stdin.flush()
            process.stdout.readline()  # now it waits for input
            process.send_signal(signal.SIGINT)
            assert process.stderr.read() == b"labeltree: interrupted\n"
            assert process.wait(timeout=60) == 130


def test_control_characters_of_labels_and_ids_are_escaped(tmp_path: Path) -> None:
    label = "red\x1b[31m\x9b1m\u202e\\end"
    rows = [
        {"text": word, "labels": [label, word], "nr": f"{word}\x1b]0;title\x07"} for word in ("a1", "b2") * 5
    ]
    data = tmp_path / "texts.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("train", data, "--model", tmp_path / "model")
    lines = run("predict", tmp_path / "model", data, "--id", "nr").stdout
    assert r"red\x1b[31m\x9b1m\u202e\\end:" in lines
    assert r"a1\x1b]0;title\x07" in lines
    printed = run("predict", tmp_path / "model", data, "--id", "nr", "--json").stdout
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & {*lines, *printed}
    assert json.loads(printed.splitlines()[0])["labels"][0]["label"] in (label, "a1")

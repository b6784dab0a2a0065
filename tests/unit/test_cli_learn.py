"""`labeltree learn`: what it learns, what it reports, and how it goes on."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tests.command_line import make_rows, run, start, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import LabelTree, LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.cli.learning_display import LiveTable
from labeltree.cli.progressive_validation import ProgressiveValidation
from labeltree.data import read_stream
from labeltree.metrics import precision_at_k
from labeltree.model.top_labels import TopLabels
from labeltree.model_file import load

ROWS = make_rows(300, seed=4)


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(json_line(labels, features) for labels, features in ROWS))
    return path


def json_line(labels: list[int], features: dict[int, float]) -> str:
    named = {f"feature {feature}": value for feature, value in features.items()}
    return json.dumps({"features": named, "labels": [f"label {label}" for label in labels]}) + "\n"


def events(*arguments: object, **options: Any) -> list[dict[str, Any]]:
    """The objects that a command with ``--json`` prints."""
    lines = run("learn", *arguments, "--json", **options).stdout.splitlines()
    return [json.loads(line) for line in lines]


def learned(source: Path | io.BytesIO, parts: int = 1, **options: Any) -> OnlineLabelTreeClassifier:
    """The model that Python makes of a stream, by other calls."""
    model = OnlineLabelTreeClassifier(random_state=0, n_jobs=-1)
    for X, y in read_stream(source, **options):
        model.partial_fit(X, y)
    return model


def assert_same(model: Any, path: Path) -> None:
    """A directory holds this model, bit for bit."""
    expected = path.parent / "expected"
    model.save(expected)
    assert {file.name: file.read_bytes() for file in path.iterdir()} == {
        file.name: file.read_bytes() for file in expected.iterdir()
    }


def test_the_model_is_that_of_partial_fit(jsonl: Path, tmp_path: Path) -> None:
    run("learn", jsonl, "--model", tmp_path / "model", "--random-state", 0, "--checkpoint-every", 70)
    assert_same(learned(jsonl, batch_size=1), tmp_path / "model")


@pytest.mark.parametrize("name", ["rows.txt", "rows.svm", "rows.txt.gz", "words.txt", "-"])
def test_formats(tmp_path: Path, name: str) -> None:
    path, text = tmp_path / name, None
    if name == "words.txt":
        path.write_text("".join(f"__label__{ls[0]} {' '.join(map(str, fs))}\n" for ls, fs in ROWS))
    else:
        is_libsvm = name.endswith(".svm")
        plain = write_rows(tmp_path / "plain", ROWS, header=not is_libsvm, first_feature=int(is_libsvm))
        text = plain.read_bytes()
        if name != "-":
            path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    source = "-" if name == "-" else path
    run("learn", source, "--model", tmp_path / "model", "--random-state", 0, input=text)
    assert_same(learned(io.BytesIO(text or b"") if name == "-" else path), tmp_path / "model")


def test_parameters_reach_the_model(jsonl: Path, tmp_path: Path) -> None:
    options = ["--policy", "best_fit", "--alpha", 0.25, "--arity", 3, "--solver", "sgd", "--no-bias"]
    run("learn", jsonl, "--model", tmp_path / "model", *options)
    model = OnlineLabelTreeClassifier.load(tmp_path / "model")
    found = model.policy, model.alpha, model.arity, model.solver, model.bias, model.normalize
    assert found == ("best_fit", 0.25, 3, "sgd", False, True)


class TestGivenTree:
    def test_a_built_tree(self, tmp_path: Path) -> None:
        rows, tree, path = write_rows(tmp_path / "rows.txt", ROWS), tmp_path / "tree.json", tmp_path / "model"
        run("tree", "build", rows, "--out", tree, "--arity", 3, "--max-leaves", 3)
        options = ["--model", path, "--tree", tree, "--policy", "fixed"]
        run("learn", rows, *options)
        model = OnlineLabelTreeClassifier.load(path)
        assert model.tree_.to_nested() == LabelTree.from_json(tree.read_text()).to_nested()
        assert (model.policy, model.n_examples_) == ("fixed", len(ROWS))
        run("learn", rows, *options)  # the same command resumes
        assert OnlineLabelTreeClassifier.load(path).n_examples_ == len(ROWS)

    @pytest.mark.parametrize("n_trees", [1, 2])
    def test_the_trees_of_a_model_with_their_labels(self, tmp_path: Path, n_trees: int) -> None:
        """Labels that are texts: every leaf has the label that it has in the model, and no other label is there."""
        earlier, path, texts = tmp_path / "earlier", tmp_path / "model", tmp_path / "texts.jsonl"
        examples = zip(*labelled_texts(200), strict=True)
        lines = [json.dumps({"text": text, "labels": list(labels)}) for text, labels in examples]
        texts.write_text("\n".join([*lines, ""]))
        shape = ["--tree", "random", "--arity", 2, "--max-leaves", 2, "--n-trees", n_trees]
        run("train", texts, "--model", earlier, *shape)
        options = ["--model", path, "--tree", earlier, "--policy", "fixed"]
        run("learn", texts, *options)
        model, trained = OnlineLabelTreeClassifier.load(path), load(earlier)
        assert model.classes_.tolist() == trained.classes_.tolist()
        assert [tree.to_nested() for tree in model.trees_] == [tree.to_nested() for tree in trained.trees_]
        assert len({tree.to_json() for tree in model.trees_}) == n_trees
        n_examples = model.n_examples_
        assert model.label_counts_.sum() > 0
        run("learn", texts, *options)  # the same command resumes
        assert OnlineLabelTreeClassifier.load(path).n_examples_ == n_examples == 200

    def test_a_label_outside_is_refused(self, tmp_path: Path) -> None:
        rows, tree = write_rows(tmp_path / "rows.txt", ROWS), tmp_path / "tree.json"
        tree.write_text("[0, 1]")
        found = run(
            "learn", rows, "--model", tmp_path / "model", "--tree", tree, "--policy", "fixed", exit_code=1
        )
        assert "is not in the tree, to which policy='fixed' adds no labels" in text_of(found.stderr)

    def test_a_taxonomy(self, jsonl: Path, tmp_path: Path) -> None:
        table = tmp_path / "labels.csv"
        table.write_text("id,parent\ntop,\n" + "".join(f"label {i},top\n" for i in range(5)))
        run("learn", jsonl, "--model", tmp_path / "model", "--tree", table)
        model = OnlineLabelTreeClassifier.load(tmp_path / "model")
        assert {"top", "label 0"} < set(model.classes_)

    def test_wrong_trees(self, jsonl: Path, tmp_path: Path) -> None:
        path = tmp_path / "model"
        found = run("learn", jsonl, "--model", path, "--tree", "kmeans", exit_code=2)
        assert "kmeans is neither a file nor a model" in text_of(found.stderr)
        run("learn", jsonl, "--model", path)
        tree = tmp_path / "tree.json"
        tree.write_text("[0, 1]")
        found = run("learn", jsonl, "--model", path, "--tree", tree, exit_code=2)
        assert "has None, not" in text_of(found.stderr)


class TestReports:
    def test_precision_is_that_of_predictions_before_learning(self, jsonl: Path, tmp_path: Path) -> None:
        *reports, end = events(
            *(jsonl, "--model", tmp_path / "model", "--random-state", 0, "--k", "1,4"),
            *("--window", 90, "--report-every", 70),
        )
        model = OnlineLabelTreeClassifier(random_state=0)
        truth, predicted, n_labels = [], [], []
        for X, y in read_stream(jsonl, batch_size=1):
            # The first example is predicted by a model that knows nothing.
            best = model.predict_topk(X, 4).labels.tolist()[0] if truth else []
            predicted.append(best + [None] * (4 - len(best)))
            truth.append(y[0])
            model.partial_fit(X, y)
            n_labels.append(len(model.classes_))
        assert [report["examples"] for report in reports] == [70, 140, 210, 280, 300]
        before = 0
        for report in reports:
            n = report["examples"]
            window = slice(max(n - 90, 0), n)
            for k in (1, 4):
                expected = precision_at_k(truth[window], predicted[window], k=k)
                assert report[f"P@{k}"] == pytest.approx(expected, abs=1e-6)
            assert report["labels"] == n_labels[n - 1]
            known = n_labels[before - 1] if before else 0
            new = 1000 * (n_labels[n - 1] - known) / (n - before)
            assert report["new_labels_per_thousand"] == pytest.approx(new, abs=1e-3)
            assert report["memory_bytes"] > 0
            assert report["examples_per_second"] > 0
            before = n
        assert (end["event"], end["examples"], end["learned"], end["labels"]) == ("end", 300, 300, 12)
        assert (end["passed_over"], end["bad_lines"], end["stopped_by"], end["error"]) == (0, 0, None, None)
        assert end["model_bytes"] == sum(file.stat().st_size for file in (tmp_path / "model").iterdir())

    def test_lines(self, jsonl: Path, tmp_path: Path) -> None:
        lines = run("learn", jsonl, "--model", tmp_path / "model", "--report-every", 150).stdout.splitlines()
        assert lines[0].split() == [
            "examples",
            "P@1",
            "P@3",
            "P@5",
            "labels",
            "new/1000",
            "memory",
            "examples/s",
        ]
        assert [line.split()[0] for line in lines[1:3]] == ["150", "300"]
        assert len({len(line) for line in lines[:3]}) == 1
        assert lines[3].startswith("300 examples learned in ")
        assert lines[-1] == f"Next: labeltree predict {tmp_path / 'model'} NEW_DATA"

    def test_live_table(self) -> None:
        """The last reports stay, and the line below them moves."""
        printed = io.StringIO()
        table = LiveTable(Console(file=printed, force_terminal=True, width=80, height=50))
        model = OnlineLabelTreeClassifier().partial_fit([{"a": 1.0}], [["x"]])
        validation = ProgressiveValidation(model, (1,), 10)
        validation.add([["x"]], TopLabels(np.array([["x"]]), np.ones((1, 1), np.float32)))
        with table.opened():
            for n_examples in range(100_000, 120_000, 1000):
                table.show({**validation.report(), "examples": n_examples, "P@1": 0.5})
            table.glance(validation)
        last_frame = printed.getvalue().rpartition("examples")[2]
        assert "107,000" not in last_frame
        assert "119,000" in last_frame
        assert "100.00" in last_frame


class TestGoingOn:
    def test_the_same_command_again_passes_over_what_was_learned(self, jsonl: Path, tmp_path: Path) -> None:
        lines = jsonl.read_bytes().splitlines(keepends=True)
        part = tmp_path / "part.jsonl"
        part.write_bytes(b"".join(lines[:130]))
        run("learn", part, "--model", tmp_path / "model", "--random-state", 0)
        end = events(jsonl, "--model", tmp_path / "model")[-1]
        assert (end["learned"], end["passed_over"], end["examples"]) == (170, 130, 300)
        assert_same(learned(jsonl), tmp_path / "model")
        end = events(jsonl, "--model", tmp_path / "model")[-1]
        assert (end["learned"], end["passed_over"], end["examples"]) == (0, 300, 300)

    @pytest.mark.parametrize("source", ["file", "stdin"])
    def test_new_stream(self, jsonl: Path, tmp_path: Path, source: str) -> None:
        text = jsonl.read_bytes()
        arguments = [jsonl if source == "file" else "-", "--model", tmp_path / "model", "--random-state", 0]
        run("learn", *arguments, input=text)
        end = events(*arguments, "--new-stream", input=text)[-1]
        assert (end["learned"], end["passed_over"], end["examples"]) == (300, 0, 600)
        end = events(*arguments, "--same-stream", input=text)[-1]
        assert (end["learned"], end["passed_over"], end["examples"]) == (0, 300, 600)

    def test_standard_input_must_say_which(self, jsonl: Path, tmp_path: Path) -> None:
        run("learn", jsonl, "--model", tmp_path / "model")
        result = run("learn", "-", "--model", tmp_path / "model", input=b"", exit_code=2)
        assert "has learned 300 examples: add --new-stream" in text_of(result.stderr)

    def test_fresh(self, jsonl: Path, tmp_path: Path) -> None:
        run("learn", jsonl, "--model", tmp_path / "model", "--arity", 4)
        arguments = [jsonl, "--model", tmp_path / "model", "--random-state", 0, "--fresh"]
        assert events(*arguments)[-1]["learned"] == 300
        assert_same(learned(jsonl), tmp_path / "model")

    def test_options_that_the_model_does_not_have(self, jsonl: Path, tmp_path: Path) -> None:
        run("learn", jsonl, "--model", tmp_path / "model", "--arity", 4)
        run("learn", jsonl, "--model", tmp_path / "model", "--arity", 4, "--search", "beam")
        result = run("learn", jsonl, "--model", tmp_path / "model", "--arity", 8, exit_code=2)
        assert "--arity: the model in" in text_of(result.stderr)
        assert "has 4, not 8; leave the option out, or start over with --fresh" in text_of(result.stderr)

    def test_a_batch_model_is_left_alone(self, jsonl: Path, tmp_path: Path) -> None:
        model = LabelTreeClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]] * 5, [["cat"], ["dog"]] * 5)
        model.save(tmp_path / "model")
        result = run("learn", jsonl, "--model", tmp_path / "model", exit_code=1)
        assert "OnlineLabelTreeClassifier.from_batch" in result.stderr
        assert LabelTreeClassifier.load(tmp_path / "model").classes_.tolist() == ["cat", "dog"]

    def test_stream_that_is_shorter_than_what_was_learned(self, jsonl: Path, tmp_path: Path) -> None:
        run("learn", jsonl, "--model", tmp_path / "model")
        jsonl.write_bytes(jsonl.read_bytes()[:1000].rpartition(b"\n")[0])
        result = run("learn", jsonl, "--model", tmp_path / "model", exit_code=1)
        assert "has learned 300 examples of this stream, but it has only" in result.stderr
        assert "if it is another stream, add --new-stream" in text_of(result.stderr)


class TestBadLines:
    @pytest.fixture
    def bad(self, jsonl: Path) -> Path:
        lines = jsonl.read_bytes().splitlines(keepends=True)
        jsonl.write_bytes(b"".join([*lines[:130], b"{}\n", *lines[130:]]))
        return jsonl

    def test_the_examples_before_are_saved(self, bad: Path, tmp_path: Path) -> None:
        result = run("learn", bad, "--model", tmp_path / "model", exit_code=1)
        assert result.stderr == (
            f"labeltree: {bad}:131: expected an object with the key 'features' or 'text', got the keys none\n"
        )
        assert "130 examples learned" in result.stdout
        assert OnlineLabelTreeClassifier.load(tmp_path / "model").n_examples_ == 130
        end = events(bad, "--model", tmp_path / "model", "--fresh", exit_code=1)[-1]
        assert end["error"].startswith(f"{bad}:131: expected an object")

    def test_they_can_be_skipped(self, bad: Path, tmp_path: Path) -> None:
        arguments = [bad, "--model", tmp_path / "model", "--random-state", 0]
        run("learn", *arguments, exit_code=1)
        end = events(*arguments, "--skip-bad-lines")[-1]
        assert (end["examples"], end["passed_over"], end["bad_lines"]) == (300, 130, 1)
        assert_same(learned(bad, skip_bad_lines=True), tmp_path / "model")


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--arity", 1], "the parameter 'arity' must be"),
            (["--policy", "best"], "best"),
            (["--k", "0,1"], "must be numbers from 1 with commas, such as 1,3,5; got '0,1'"),
            (["--k", "few"], "got 'few'"),
            (["--window", 0], "--window"),
            (["--format", "xls"], "xls"),
        ],
    )
    def test_wrong_options_are_told_before_anything_is_read(
        self, tmp_path: Path, options: list[object], message: str
    ) -> None:
        result = run("learn", "no-such-data.txt", "--model", tmp_path / "model", *options, exit_code=2)
        assert message in text_of(result.stderr)
        assert not (tmp_path / "model").exists()

    def test_empty_stream(self, tmp_path: Path) -> None:
        result = run("learn", "-", "--model", tmp_path / "model", input=b"", exit_code=1)
        assert result.stderr == "labeltree: expected at least one example, got an empty stream\n"
        assert not (tmp_path / "model").exists()

    def test_target_that_is_something_else(self, jsonl: Path, tmp_path: Path) -> None:
        result = run("learn", jsonl, "--model", tmp_path, exit_code=1)
        assert "is not a model" in result.stderr

    def test_no_such_stream(self, tmp_path: Path) -> None:
        result = run("learn", tmp_path / "none.jsonl", "--model", tmp_path / "model", exit_code=1)
        assert result.stderr == f"labeltree: {tmp_path / 'none.jsonl'}: No such file or directory\n"


def test_reports_come_while_the_stream_does(jsonl: Path, tmp_path: Path) -> None:
    lines = jsonl.read_bytes().splitlines(keepends=True)
    arguments = ["learn", "-", "--model", tmp_path / "model", "--report-every", 2, "--json"]
    with start(*arguments, stdin=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in (2, 4, 6):
            process.stdin.write(b"".join(lines[number - 2 : number]))
            process.stdin.flush()
            # The next examples are sent only after this report: waiting for more would never end.
            assert json.loads(process.stdout.readline())["examples"] == number
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_reader_that_goes_away(tmp_path: Path) -> None:
    """The model is saved though nobody wants to read on."""
    many = tmp_path / "many.jsonl"
    many.write_text("".join(json_line(*row) for row in ROWS * 20))
    with start("learn", many, "--model", tmp_path / "model", "--report-every", 1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141
    assert OnlineLabelTreeClassifier.load(tmp_path / "model").n_examples_ > 0


def text_of(page: str) -> str:
    """What is in the box that a mistake is told in."""
    return " ".join(page.replace("│", " ").split())


def test_several_trees(jsonl: Path, tmp_path: Path) -> None:
    """A stream in two parts makes the same model as one, and other numbers of trees are refused."""
    options = ["--n-trees", 3, "--policy", "random"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run("learn", jsonl, "--model", whole, *options)
    lines = jsonl.read_text().splitlines(keepends=True)
    (tmp_path / "first.jsonl").write_text("".join(lines[:120]))
    run("learn", tmp_path / "first.jsonl", "--model", parts, *options, "--n-jobs", 1)
    run("learn", jsonl, "--model", parts, *options)
    expected = OnlineLabelTreeClassifier(n_trees=3, policy="random", random_state=0, n_jobs=-1)
    for X, y in read_stream(jsonl):
        expected.partial_fit(X, y)
    assert_same(expected, whole)
    assert_same(OnlineLabelTreeClassifier.load(parts).set_params(n_jobs=-1), whole)
    refused = run("learn", jsonl, "--model", whole, "--n-trees", 2, exit_code=2).stderr
    assert "has 3, not 2" in text_of(refused)
    refused = run("learn", jsonl, "--model", tmp_path / "new", "--n-trees", 2, exit_code=2).stderr
    assert "with --n-trees 2, --policy complete puts every label at the same place" in text_of(refused)
    assert "use --policy random" in text_of(refused)


def test_several_given_trees(tmp_path: Path) -> None:
    stream = write_rows(tmp_path / "train.txt", ROWS, header=True)
    labels = sorted({label for y, _ in ROWS for label in y})
    n_labels = labels[-1] + 1
    trees = [LabelTree.from_nested([list(range(n)), *range(n, n_labels)]) for n in (3, 5)]
    for number, tree in enumerate(trees):
        (tmp_path / f"{number}.json").write_text(tree.to_json())
    given = f"{tmp_path / '0.json'},{tmp_path / '1.json'}"
    model = tmp_path / "model"
    run("learn", stream, "--model", model, "--tree", given, "--policy", "fixed")
    assert OnlineLabelTreeClassifier.load(model).trees_ == trees
    run("learn", stream, "--model", model, "--tree", given, "--policy", "fixed", "--new-stream")

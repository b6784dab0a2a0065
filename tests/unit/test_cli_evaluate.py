"""`labeltree evaluate`, against the metrics computed in Python."""

from __future__ import annotations

import json
import re
import shlex
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from scipy.sparse import csr_matrix
from sklearn.preprocessing import MultiLabelBinarizer
from tests.command_line import N_LABELS, make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import LabelTreeClassifier, metrics
from labeltree.data import read_xmlc
from labeltree.text import Tagger, TextVectorizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    train = write_rows(folder / "train.txt", make_rows(300, seed=1))
    write_rows(folder / "test.txt", make_rows(50, seed=2))
    shape = {"arity": 2, "max_leaves": 3, "frequent_share": 0}
    LabelTreeClassifier(random_state=0, **shape).fit(*read_xmlc(train)).save(folder / "model")
    return folder


def expected_metrics(folder: Path, A: float = 0.55, B: float = 1.5) -> dict[str, float]:
    X, y = read_xmlc(folder / "test.txt")
    _, y_train = read_xmlc(folder / "train.txt")
    labels = LabelTreeClassifier.load(folder / "model").predict_topk(X, 5).labels
    return metrics.evaluate(y, labels, inverse_propensity=metrics.inverse_propensity(y_train, A, B))


def test_json(folder: Path) -> None:
    report = run_json("evaluate", folder / "model", folder / "test.txt")
    assert report["metrics"] == pytest.approx(expected_metrics(folder))
    assert report["metrics"]["P@1"] > 0.9
    assert (report["rows"], report["labels"], report["single_rows"]) == (50, N_LABELS, 50)
    assert report["model_bytes"] == sum(file.stat().st_size for file in (folder / "model").iterdir())
    assert 0 < report["single_row_ms"]["p50"] <= report["single_row_ms"]["p99"]
    assert 0 < report["batch_ms_per_row"] < 1000
    X, _ = read_xmlc(folder / "test.txt")
    *_, evaluations = LabelTreeClassifier.load(folder / "model").predict_topk(X, 5, return_evaluations=True)
    assert report["node_evaluations_per_row"] == pytest.approx(evaluations.mean())
    assert report["peak_memory_bytes"] > 10_000_000


def test_table(folder: Path) -> None:
    expected = expected_metrics(folder)
    table = run("evaluate", folder / "model", folder / "test.txt").stdout
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert rows["%"] == ["@1", "@3", "@5"]
    for name in ("P", "nDCG", "PSP", "PSnDCG", "recall", "coverage"):
        assert rows[name] == [f"{100 * expected[f'{name}@{k}']:.2f}" for k in (1, 3, 5)]
    assert rows.keys() >= {"batch", "single", "search", "model", "memory"}
    assert max(map(len, table.splitlines()[1:])) <= 80


def test_propensities_follow_their_parameters(folder: Path) -> None:
    report = run_json("evaluate", folder / "model", folder / "test.txt", "--A", 0.6, "--B", 2.6)
    assert report["metrics"] == pytest.approx(expected_metrics(folder, 0.6, 2.6))
    assert report["metrics"]["PSP@1"] != expected_metrics(folder)["PSP@1"]
    for value in ("0", "-1", "nan", "inf"):
        run("evaluate", folder / "model", folder / "test.txt", "--A", value, exit_code=2)


def test_beam(folder: Path) -> None:
    exact = run_json("evaluate", folder / "model", folder / "test.txt")
    beam = run_json("evaluate", folder / "model", folder / "test.txt", "--search", "beam", "--beam", 1)
    assert beam["node_evaluations_per_row"] < exact["node_evaluations_per_row"]


def test_header_may_say_less_or_more_than_the_model(folder: Path, tmp_path: Path) -> None:
    expected = run_json("evaluate", folder / "model", folder / "test.txt")["metrics"]
    _, _, rows = (folder / "test.txt").read_text().partition("\n")
    for other in ("", "50 999 12\n"):
        (tmp_path / "test.txt").write_text(other + rows)
        assert run_json("evaluate", folder / "model", tmp_path / "test.txt")["metrics"] == expected


def test_standard_input(folder: Path) -> None:
    text = (folder / "test.txt").read_bytes()
    report = run_json("evaluate", folder / "model", "-", input=text)
    assert report["metrics"] == pytest.approx(expected_metrics(folder))


def test_labels_that_are_numbers_of_their_own(folder: Path, tmp_path: Path) -> None:
    """A model trained on lists of numbers has gaps between its labels; files name them as they are."""
    X, y = read_xmlc(folder / "train.txt")
    rows = [[10 * label for label in row.indices.tolist()] for row in y]
    LabelTreeClassifier(random_state=0).fit(X, rows).save(tmp_path / "model")
    LabelTreeClassifier(random_state=0).fit(X, y).save(tmp_path / "same")
    X_test, y_test = read_xmlc(folder / "test.txt")
    sparse = csr_matrix((y_test.data, 10 * y_test.indices, y_test.indptr), shape=(50, 10 * N_LABELS))
    from labeltree.data import write_xmlc

    write_xmlc(tmp_path / "test.txt", X_test, sparse)
    expected = run_json("evaluate", tmp_path / "same", folder / "test.txt")["metrics"]
    assert run_json("evaluate", tmp_path / "model", tmp_path / "test.txt")["metrics"] == pytest.approx(
        expected
    )


def test_fewer_labels_than_ranks(tmp_path: Path) -> None:
    X, y = np.eye(4), csr_matrix(np.array([[1, 0], [0, 1], [1, 0], [0, 1]]))
    LabelTreeClassifier(random_state=0).fit(X, y).save(tmp_path / "model")
    report = run_json("evaluate", tmp_path / "model", "-", input="0 0:1\n1 1:1\n")
    assert report["metrics"]["P@1"] == 1
    assert report["metrics"]["P@5"] == pytest.approx(0.2)


def test_too_few_rows_for_propensities(tmp_path: Path) -> None:
    LabelTreeClassifier().fit(np.eye(2), csr_matrix(np.eye(2))).save(tmp_path / "model")
    report = run_json("evaluate", tmp_path / "model", "-", input="0 0:1\n")
    assert "P@1" in report["metrics"]
    assert "PSP@1" not in report["metrics"]


class TestDecision:
    """F1 of decided labels, against scikit-learn."""

    def f1(self, true: list[Any], predicted: list[Any], average: str) -> float:
        binarizer = MultiLabelBinarizer().fit([*true, *predicted])
        y, decided = binarizer.transform(true), binarizer.transform(predicted)
        return float(sklearn.metrics.f1_score(y, decided, average=average, zero_division=0))

    def test_f1_is_that_of_scikit_learn(self, folder: Path, tmp_path: Path) -> None:
        X, y = read_xmlc(folder / "test.txt")
        model = LabelTreeClassifier.load(folder / "model")
        true = [row.indices.tolist() for row in y]
        for name in (None, "micro_f1", "precision@2"):
            if name is not None:
                model.decide_for(name, X, y)
            model.save(tmp_path / "model")
            printed = run_json("evaluate", tmp_path / "model", folder / "test.txt")
            predicted = [row.indices.tolist() for row in model.predict(X)]
            decided = printed["decided"]
            assert decided["micro_f1"] == pytest.approx(self.f1(true, predicted, "micro"))
            assert decided["macro_f1"] == pytest.approx(self.f1(true, predicted, "macro"))
            assert decided["predicted_per_row"] == pytest.approx(sum(map(len, predicted)) / 50)
            assert printed["decision"]["metric"] == (name or "hamming")
        table = run("evaluate", tmp_path / "model", folder / "test.txt").stdout
        assert f"micro F1    {100 * decided['micro_f1']:.2f} %" in table
        assert "the 2 most probable labels" in table

    def test_f1_at_5_is_the_mean_over_rows(self, folder: Path) -> None:
        X, y = read_xmlc(folder / "test.txt")
        best = LabelTreeClassifier.load(folder / "model").predict_topk(X, 5).labels.tolist()
        expected = self.f1([row.indices.tolist() for row in y], best, "samples")
        printed = run_json("evaluate", folder / "model", folder / "test.txt")
        assert printed["metrics"]["F1@5"] == pytest.approx(expected)

    def test_one_class_per_row(self, tmp_path: Path) -> None:
        LabelTreeClassifier(random_state=0).fit(np.eye(4), [0, 1, 2, 2]).save(tmp_path / "model")
        printed = run_json("evaluate", tmp_path / "model", "-", input="0 0:1\n1 1:1\n2 2:1\n2 3:1\n")
        assert printed["decided"]["predicted_per_row"] == 1
        assert printed["decided"]["micro_f1"] == 1
        assert printed["hints"] == []


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    Tagger(LabelTreeClassifier(random_state=0)).fit(*labelled_texts(100)).save(folder / "model")
    rows = [
        {"text": text, "labels": [*labels, "new", "newer"] if i < 3 else labels, "key": f"t{i}"}
        for i, (text, labels) in enumerate(zip(*labelled_texts(40, 1), strict=True))
    ]
    rows[0]["labels"].remove("newer")
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class TestTexts:
    def test_unknown_labels_are_counted(self, texts: Path) -> None:
        printed = run_json("evaluate", texts / "model", texts / "test.jsonl")
        n_true = sum(map(len, labelled_texts(40, 1)[1])) + 5
        assert printed["unknown"] == {
            "distinct": 2,
            "of_distinct": 7,
            "occurrences": 5,
            "of_occurrences": n_true,
        }
        assert "unknown     2 of 7 labels" in run("evaluate", texts / "model", texts / "test.jsonl").stdout

    def test_labels_without_training_rows_are_unknown(self, tmp_path: Path) -> None:
        y = csr_matrix(([1, 1], ([0, 1], [0, 1])), shape=(2, 3))
        LabelTreeClassifier(random_state=0).fit(np.eye(2), y).save(tmp_path / "model")
        printed = run_json("evaluate", tmp_path / "model", "-", input="0,2 0:1\n1 1:1\n")
        assert printed["unknown"] == {"distinct": 1, "of_distinct": 3, "occurrences": 1, "of_occurrences": 3}

    def test_times_are_of_texts(self, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []
        read = TextVectorizer.transform

        def counting(self: TextVectorizer, given: Any) -> Any:
            asked.append(len(given))
            return read(self, given)

        monkeypatch.setattr(TextVectorizer, "transform", counting)
        printed = run_json("evaluate", texts / "model", texts / "test.jsonl")
        assert asked.count(1) == 41  # one by one, the first twice
        assert asked[-1] == 40
        assert printed["timed"] == "texts"
        per_second = 1000 / printed["batch_ms_per_row"]
        assert printed["batch_rows_per_second"] == pytest.approx(per_second)
        table = run("evaluate", texts / "model", texts / "test.jsonl").stdout
        assert "texts per second" in table
        assert "single text" in table

    def test_report_shows_texts_and_ids(self, texts: Path, tmp_path: Path) -> None:
        out = tmp_path / "out.html"
        run("evaluate", texts / "model", texts / "test.jsonl", "--report", out, "--id", "key")
        page = out.read_text(encoding="utf-8")
        assert "<blockquote>" in page
        assert "· t" in page
        assert str(texts / "model") in page
        assert f"{datetime.now():%Y-}" in page

    def test_hints_name_the_cure(self, texts: Path, tmp_path: Path) -> None:
        """A model that is too shy: nothing reaches 0.5, though the ranking is perfect."""
        rows = [([i % 4], {i % 4: 1.0, 4 + i % 7: 1.0}) for i in range(400)]
        rng = np.random.default_rng(0)
        rows = [(labels if rng.random() < 0.4 else [5], features) for labels, features in rows]
        train = write_rows(tmp_path / "train.txt", rows)
        LabelTreeClassifier(C=None, link="exp4", random_state=0).fit(*read_xmlc(train)).save(
            tmp_path / "model"
        )
        printed = run_json("evaluate", tmp_path / "model", train)
        commands = [hint["command"] for hint in printed["hints"]]
        assert f"labeltree decide {tmp_path / 'model'} VALID --metric micro_f1" in commands
        table = " ".join(run("evaluate", tmp_path / "model", train).stdout.split())
        assert "Hint: " in table
        assert "labeltree decide" in table
        run("decide", tmp_path / "model", train)
        commands = [hint["command"] for hint in run_json("evaluate", tmp_path / "model", train)["hints"]]
        assert not any("decide" in command for command in commands)

    def test_commands_of_hints_name_the_columns(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        groups = ["sea; boat", "man; portrait", "tree; hill"]
        data = tmp_path / "data.csv"
        rows = [
            f"{groups[i % 3].replace(';', '')},{groups[i % 3] if rng.random() < 0.4 else 'other'}\n"
            for i in range(400)
        ]
        data.write_text("Title,Key words\n" + "".join(rows))
        columns = ("--labels", "Key words", "--separator", ";")
        run("train", data, "--model", tmp_path / "model", "--text", "Title", *columns)
        printed = run_json("evaluate", tmp_path / "model", data, *columns)
        (command,) = [hint["command"] for hint in printed["hints"] if "decide" in hint["command"]]
        assert f"{'':8}{command}" in run("evaluate", tmp_path / "model", data, *columns).stdout.splitlines()
        run(*shlex.split(command.replace("VALID", str(data)))[1:])
        assert run_json("evaluate", tmp_path / "model", data, *columns)["decision"]["metric"] == "micro_f1"

    def test_hints_look_at_more_labels_where_rows_have_many(self, tmp_path: Path) -> None:
        """Groups of 12 labels with the probability 0.4: five of them would hide how much a threshold gains."""
        rng = np.random.default_rng(0)
        rows = [
            (list(range(12 * (i % 4), 12 * (i % 4) + 12)) if rng.random() < 0.4 else [48], {i % 4: 1.0})
            for i in range(400)
        ]
        train = write_rows(tmp_path / "train.txt", rows, header=False)
        LabelTreeClassifier(random_state=0).fit(*read_xmlc(train)).save(tmp_path / "model")
        (hint,) = [
            hint["finding"]
            for hint in run_json("evaluate", tmp_path / "model", train)["hints"]
            if "decide" in hint["command"]
        ]
        share = re.search(r"micro F1 would be (\S+)%", hint)
        assert share
        assert 50 < float(share[1]) < 60


class TestMistakes:
    @pytest.mark.parametrize("labels", [["cat", "dog"], [-5, 7], [1, 10**12], [0.5, 1.5]])
    def test_labels_that_no_data_file_has(self, tmp_path: Path, labels: list[Any]) -> None:
        LabelTreeClassifier().fit(np.eye(2), [[label] for label in labels]).save(tmp_path / "model")
        result = run("evaluate", tmp_path / "model", "-", input="0 0:1\n", exit_code=1)
        assert f"names such as {labels[0]!r}, but - has rows whose labels are numbers from 0" in result.stderr

    def test_no_rows(self, folder: Path) -> None:
        result = run("evaluate", folder / "model", "-", input="0 30 12\n", exit_code=1)
        assert "expected at least one row" in result.stderr

    def test_unknown_label_says_what_to_do(self, folder: Path) -> None:
        result = run("evaluate", folder / "model", "-", input="1 0:1\n3,77 0:1\n", exit_code=1)
        assert (
            f"<stdin>: row 1 has the label 77, but the largest that the model knows is {N_LABELS - 1}; "
            "if the files belong together, train with --n-labels 78 or more\n" in result.stderr
        )

    def test_ids_in_messages_count_as_in_the_file(self, folder: Path) -> None:
        options = ["--one-based"]
        result = run("evaluate", folder / "model", "-", *options, input="77 1:1\n", exit_code=1)
        assert f"row 0 has the label 77, but the largest that the model knows is {N_LABELS}" in result.stderr
        result = run("evaluate", folder / "model", "-", *options, input="1 99:1\n", exit_code=1)
        assert "has the feature 99" in result.stderr
        assert "--n-features 99 or more" in result.stderr

"""`--label-weight` of `labeltree predict` and `labeltree evaluate`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import N_LABELS, make_rows, run, run_json, write_rows

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier, metrics
from labeltree.cli.label_weight import weights_in_file
from labeltree.data import read_xmlc

WEIGHTS = [float(1 + 7 * label % 12) for label in range(N_LABELS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("label-weight")
    train = write_rows(folder / "train.txt", make_rows(300, seed=1))
    write_rows(folder / "test.txt", make_rows(50, seed=2))
    LabelTreeClassifier(random_state=0, loss="logistic").fit(*read_xmlc(train)).save(folder / "model")
    return folder


def predicted(folder: Path, *options: object) -> list[list[int]]:
    printed = run("predict", folder / "model", folder / "test.txt", "-k", 3, "--json", *options).stdout
    return [[entry["label"] for entry in json.loads(line)["labels"]] for line in printed.splitlines()]


def expected(folder: Path, label_weight: object) -> list[list[int]]:
    X, _ = read_xmlc(folder / "test.txt")
    labels = LabelTreeClassifier.load(folder / "model").predict_topk(X, 3, label_weight=label_weight).labels
    return labels.tolist()


def test_predictions_by_propensity_and_by_the_lines_of_files(folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("".join(f"{weight}\n" for weight in WEIGHTS))
    named = tmp_path / "weights.csv.gz"
    named.write_bytes(gzip.compress(b"label,weight\n11, 30\n\n3,0.25\n"))
    assert predicted(folder, "--label-weight", "propensity") == expected(folder, "propensity")
    assert predicted(folder, "--label-weight", weights) == expected(folder, WEIGHTS)
    assert predicted(folder, "--label-weight", named) == expected(folder, {11: 30, 3: 0.25})
    answers = [predicted(folder), *(expected(folder, w) for w in ("propensity", WEIGHTS, {11: 30, 3: 0.25}))]
    assert len({json.dumps(answer) for answer in answers}) == 4


def test_evaluation(folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("\n".join(map(str, WEIGHTS)))
    X, y = read_xmlc(folder / "test.txt")
    _, y_train = read_xmlc(folder / "train.txt")
    model = LabelTreeClassifier.load(folder / "model")
    for given, A, weight in [
        (weights, 0.55, WEIGHTS),
        ("propensity", 0.55, metrics.inverse_propensity(y_train)),
        ("propensity", 1.5, metrics.inverse_propensity(y_train, 1.5)),
    ]:
        report = run_json(
            "evaluate", folder / "model", folder / "test.txt", "--label-weight", given, "--A", A
        )
        labels, _, evaluations = model.predict_topk(X, 5, label_weight=weight, return_evaluations=True)
        propensity = metrics.inverse_propensity(y_train, A)
        assert report["metrics"] == pytest.approx(metrics.evaluate(y, labels, inverse_propensity=propensity))
        assert report["node_evaluations_per_row"] == pytest.approx(evaluations.mean())
        assert report["label_weight"] == str(given)
    assert "label_weight" not in run_json("evaluate", folder / "model", folder / "test.txt")
    table = run("evaluate", folder / "model", folder / "test.txt", "--label-weight", "propensity").stdout
    assert "weighted by propensity" in " ".join(table.split())


def test_names_of_labels(tmp_path: Path) -> None:
    rows = [
        {"text": f"the {animal} sleeps", "labels": [animal, "animal, any"]} for animal in ("cat", "dog")
    ] * 5
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("learn", data, "--model", tmp_path / "model")
    weights = tmp_path / "weights.csv"
    weights.write_text('"animal, any",0\ncat,2\n')
    options = ["predict", tmp_path / "model", data, "-k", 3, "--json", "--label-weight", weights]
    first = json.loads(run(*options).stdout.splitlines()[0])
    assert [entry["label"] for entry in first["labels"]][-1] == "animal, any"
    model = OnlineLabelTreeClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(
        weights_in_file(weights, model.classes_),
        [{"animal, any": 0.0, "cat": 2.0}.get(label, 1.0) for label in model.classes_],
    )
    weights.write_text("3\n4\n5\n")
    assert weights_in_file(weights, model.classes_).tolist() == [3, 4, 5]


def test_lines_stand_for_numbers_of_labels_also_where_some_are_missing(tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("0\n1\n2\n3\n4\n")
    assert weights_in_file(weights, np.array([1, 4])).tolist() == [1, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected weights of labels, got none"),
        ("label,weight\n", "expected weights of labels, got none"),
        ("1\n" * 11, "expected 12 weights, one for each label of the model, got 11"),
        ("1\n" * 13, "expected 12 weights, one for each label of the model, got 13"),
        ("1\nmuch\n", "2: expected a weight, finite and at least 0, got 'much'"),
        ("1\n-1\n", "2: expected a weight, finite and at least 0, got '-1'"),
        ("3,nan\n", "1: expected a weight, finite and at least 0, got 'nan'"),
        ("3,1\n\n12,1\n", "3: the model has no label '12'"),
        ("3,1\n3,2\n", "2: the label '3' is there twice"),
        ("3,1\n3\n", "2: expected a weight on each line, or 'label,weight' on each, got 1 fields"),
        ("3,1,2\n", "1: expected a weight on each line, or 'label,weight' on each, got 3 fields"),
        ('"3,1\n', "1: expected fields with commas between them"),
    ],
)
def test_wrong_files_are_told(folder: Path, tmp_path: Path, text: str, message: str) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text(text if text.count("\n") != 2 or "," in text else text + "1\n" * 10)
    result = run("predict", folder / "model", folder / "test.txt", "--label-weight", weights, exit_code=1)
    assert message in " ".join(result.stderr.split())


def test_a_file_that_is_not_there(folder: Path) -> None:
    result = run("predict", folder / "model", folder / "test.txt", "--label-weight", "no such", exit_code=1)
    assert "no such" in result.stderr

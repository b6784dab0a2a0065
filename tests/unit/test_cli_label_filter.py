"""evaluate --filter-labels: pairs of rows and labels that do not count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.command_line import make_rows, run, run_json, write_rows

from labeltree import LabelTreeClassifier, metrics
from labeltree.data import read_xmlc


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filter")
    for name, n_rows, seed in (("train", 200, 0), ("test", 40, 1)):
        write_rows(folder / f"{name}.txt", make_rows(n_rows, seed))
    run("train", folder / "train.txt", "--model", folder / "model")
    rng = np.random.default_rng(5)
    pairs = [(row, label) for row in range(0, 40, 2) for label in rng.choice(12, 4, replace=False)]
    (folder / "filter.txt").write_text("".join(f"{row} {label}\n" for row, label in pairs))
    return folder


def test_against_a_dense_ranking(folder: Path) -> None:
    model: Any = LabelTreeClassifier.load(folder / "model")
    X, y = read_xmlc(folder / "test.txt")
    pairs = np.loadtxt(folder / "filter.txt", dtype=int)
    scores = model.predict_proba(X, top_k=None).toarray()
    truth = y.toarray()
    scores[pairs[:, 0], pairs[:, 1]] = -1
    truth[pairs[:, 0], pairs[:, 1]] = 0
    ranking = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    expected = metrics.evaluate(truth, ranking, (1, 3, 5))
    report = run_json(
        "evaluate", folder / "model", folder / "test.txt", "--filter-labels", folder / "filter.txt"
    )
    assert {name: report["metrics"][name] for name in expected} == pytest.approx(expected)
    decided = (scores >= 0.5).astype(int)
    both = (decided * truth).sum()
    assert report["decided"]["micro_f1"] == pytest.approx(2 * both / (decided.sum() + truth.sum()))
    assert report["unknown"]["of_occurrences"] == truth.sum()
    plain = run_json("evaluate", folder / "model", folder / "test.txt")
    assert plain["metrics"]["P@5"] > report["metrics"]["P@5"]


def test_texts_with_integer_labels(tmp_path: Path) -> None:
    lines = "".join(
        f'{{"title": "word{i % 3}", "content": "", "target_ind": [{i % 3}, {(i + 1) % 3}]}}\n'
        for i in range(30)
    )
    run("train", "-", "--model", tmp_path / "model", input=lines)
    (tmp_path / "filter.txt").write_text("".join(f"{i} {(i + 1) % 3}\n" for i in range(30)))
    options = ["--filter-labels", tmp_path / "filter.txt"]
    report = run_json("evaluate", tmp_path / "model", "-", *options, input=lines)
    assert report["metrics"]["P@1"] == 1
    assert report["metrics"]["recall@1"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n0\n", "filter.txt:2: expected 'row label', two numbers from 0, got '0'"),
        ("0 -1\n", "filter.txt:1: expected 'row label'"),
        ("0 1\n1 b\n", "filter.txt:2: expected 'row label'"),
        ("0 1\n\n40 1\n", "filter.txt: expected rows from 0 to 39, as the data have, got row 40"),
    ],
)
def test_wrong_files(folder: Path, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "filter.txt").write_text(text)
    options = ["--filter-labels", tmp_path / "filter.txt"]
    assert message in run("evaluate", folder / "model", folder / "test.txt", *options, exit_code=1).stderr


def test_a_model_whose_labels_are_names(tmp_path: Path) -> None:
    data, filters = tmp_path / "texts.csv", tmp_path / "filter.txt"
    data.write_text("text,labels\nboat,1\nowl,2\n" * 5)
    filters.write_text("0 1\n")
    run("train", data, "--model", tmp_path / "model")
    result = run("evaluate", tmp_path / "model", data, "--filter-labels", filters, exit_code=1)
    assert "has numbers of labels, but the labels of the model are names such as '1'" in result.output

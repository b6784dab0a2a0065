"""`labeltree evaluate`, against the metrics computed in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.command_line import N_LABELS, make_rows, run, run_json, write_rows

from labeltree import LabelTreeClassifier, metrics
from labeltree.data import read_xmlc


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

"""`labeltree compare`, against the comparison in Python."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, run, run_json, write_rows
from tests.labelled_texts import labelled_texts

from labeltree import FastXMLClassifier, LabelTreeClassifier, metrics
from labeltree.data import read_xmlc
from labeltree.text import Tagger, TextVectorizer

N_TESTS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good model, one of another kind that knows fewer words and labels, and texts to compare them on."""
    folder = tmp_path_factory.mktemp("compare")
    texts, labels = labelled_texts(150)
    Tagger(LabelTreeClassifier(random_state=0)).fit(texts, labels).save(folder / "good")
    fewer = [[label for label in row if label != "music"] for row in labels]
    vectorizer = TextVectorizer(ngram_range=(1, 2), min_df=12)
    Tagger(FastXMLClassifier(random_state=0, n_trees=2), vectorizer).fit(texts[:30], fewer[:30]).save(
        folder / "poor"
    )
    rows = zip(*labelled_texts(N_TESTS, 1), strict=True)
    lines = [
        json.dumps({"text": text, "labels": [*labels, "\x1b[31m"] if i == 0 else labels, "key": f"k{i}"})
        for i, (text, labels) in enumerate(rows)
    ]
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def expected(folder: Path) -> metrics.Comparison:
    texts, labels = labelled_texts(N_TESTS, 1)
    labels[0].append("\x1b[31m")
    models = [Tagger.load(folder / name) for name in ("good", "poor")]
    counts = models[0].classifier_.label_counts_.tolist()
    known = dict(zip(models[0].classes_.tolist(), counts, strict=True))
    *weights, unseen = metrics.inverse_propensity_of_counts([*known.values(), 0], 150).tolist()
    return metrics.compare(
        labels,
        *(model.predict_topk(texts, 5).labels.tolist() for model in models),
        decided_a=models[0].predict(texts),
        decided_b=models[1].predict(texts),
        inverse_propensity=metrics.LabelWeights(dict(zip(known, weights, strict=True)), unseen),
        n_resamples=200,
    )


def test_json(folder: Path) -> None:
    printed = run_json(
        "compare", folder / "good", folder / "poor", folder / "test.jsonl", "--id", "key", "--resamples", 200
    )
    found = expected(folder)
    assert printed["metrics"].keys() == found.metrics.keys()
    for name, difference in found.metrics.items():
        shown = printed["metrics"][name]
        assert [shown["a"], shown["b"], shown["low"], shown["high"], shown["difference"]] == pytest.approx(
            [difference.a, difference.b, difference.low, difference.high, difference.difference]
        )
        assert shown["is_significant"] == difference.is_significant
    assert printed["metrics"]["P@1"]["is_significant"]
    assert printed["metrics"]["P@1"]["difference"] < 0
    assert (printed["rows"], printed["level"], printed["resamples"]) == (N_TESTS, 0.95, 200)
    gaps = [abs(row["difference"]) for row in printed["different_rows"]]
    assert gaps == sorted(abs(found.row_differences), reverse=True)[:5]
    first = printed["different_rows"][0]
    assert first["id"] == f"k{first['row']}"
    assert first["text"] == labelled_texts(N_TESTS, 1)[0][first["row"]]
    assert set(first["lost"]) == (set(first["true"]) & set(first["best_a"])) - set(first["best_b"])
    assert set(first["gained"]) == (set(first["true"]) & set(first["best_b"])) - set(first["best_a"])


def test_table(folder: Path) -> None:
    arguments = (folder / "good", folder / "poor", folder / "test.jsonl", "--resamples", 200)
    printed = run("compare", *arguments, "--rows", N_TESTS).stdout
    found = expected(folder).metrics["P@1"]
    (line,) = [line for line in printed.splitlines() if line.strip().startswith("P@1")]
    assert line.split()[:4] == [
        "P@1",
        f"{100 * found.a:.2f}",
        f"{100 * found.b:.2f}",
        f"{100 * found.difference:+.2f}",
    ]
    assert "A is better" in line
    assert "true: " in printed
    assert "\n  - " in printed
    assert "\x1b" not in printed
    assert "differ most" not in run("compare", *arguments, "--rows", 0).stdout


def test_a_model_and_itself(folder: Path) -> None:
    printed = run(
        "compare", folder / "good", folder / "good", folder / "test.jsonl", "--resamples", 100
    ).stdout
    assert "is better" not in printed
    assert "answer every row equally well" in printed


def test_models_of_numbers(tmp_path: Path) -> None:
    train = read_xmlc(write_rows(tmp_path / "train.txt", make_rows(200, seed=1)))
    test = write_rows(tmp_path / "test.txt", make_rows(20, seed=2))
    LabelTreeClassifier(random_state=0).fit(*train).save(tmp_path / "tree")
    run("learn", tmp_path / "train.txt", "--model", tmp_path / "online")
    printed = run_json("compare", tmp_path / "tree", tmp_path / "online", test, "--resamples", 100)
    for side, name in (("a", "tree"), ("b", "online")):
        alone = run_json("evaluate", tmp_path / name, test)
        assert printed["metrics"]["nDCG@5"][side] == pytest.approx(alone["metrics"]["nDCG@5"])
        assert printed["metrics"]["micro F1"][side] == pytest.approx(alone["decided"]["micro_f1"])
        assert printed["metrics"]["macro F1"][side] == pytest.approx(alone["decided"]["macro_f1"])
    assert all(row["text"] is None for row in printed["different_rows"])
    assert "Fewer than 30 rows" in run("compare", tmp_path / "tree", tmp_path / "online", test).stdout


def test_filtered_pairs_do_not_count(tmp_path: Path) -> None:
    X, y = read_xmlc(write_rows(tmp_path / "train.txt", make_rows(100, seed=1)))
    LabelTreeClassifier(random_state=0).fit(X, y).save(tmp_path / "a")
    LabelTreeClassifier(random_state=0).fit(X[:10], y[:10]).save(tmp_path / "b")
    (tmp_path / "filter.txt").write_text("".join(f"{row} {y[row].indices[0]}\n" for row in range(0, 100, 3)))
    options = ("--filter-labels", tmp_path / "filter.txt")
    printed = run_json(
        "compare", tmp_path / "a", tmp_path / "b", tmp_path / "train.txt", *options, "--resamples", 100
    )
    for side in ("a", "b"):
        alone = run_json("evaluate", tmp_path / side, tmp_path / "train.txt", *options)
        assert printed["metrics"]["P@3"][side] == pytest.approx(alone["metrics"]["P@3"])
        assert printed["metrics"]["macro F1"][side] == pytest.approx(alone["decided"]["macro_f1"])


def test_names_of_labels(tmp_path: Path) -> None:
    X, y = read_xmlc(write_rows(tmp_path / "train.txt", make_rows(100, seed=1)))
    LabelTreeClassifier(random_state=0).fit(X, y).save(tmp_path / "a")
    LabelTreeClassifier(random_state=0).fit(X[:10], y[:10]).save(tmp_path / "b")
    (tmp_path / "names.txt").write_text("".join(f"Name of {i}\n" for i in range(y.shape[1])))
    options: tuple[Any, ...] = ("--label-names", tmp_path / "names.txt", "--resamples", 100)
    assert (
        "true: Name of"
        in run("compare", tmp_path / "a", tmp_path / "b", tmp_path / "train.txt", *options).stdout
    )


class TestMistakes:
    def test_standard_input(self, folder: Path) -> None:
        result = run("compare", folder / "good", folder / "poor", "-", exit_code=2)
        assert "read by both models" in " ".join(result.stderr.replace("│", " ").split())

    def test_no_model(self, folder: Path, tmp_path: Path) -> None:
        run("compare", folder / "good", tmp_path, folder / "test.jsonl", exit_code=1)


def test_a_pipe_is_refused_because_it_is_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = run("compare", tmp_path / "a", tmp_path / "b", tmp_path / "pipe", exit_code=2)
    assert "is read by both models: give the name of a file" in result.output

"""`labeltree data import`, `info` and `check`, and stores in place of data files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, run, run_json, write_rows, write_texts
from tests.stores import files_of

from labeltree.data import Store


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files and stores of rows and of texts, and a model of each."""
    folder = tmp_path_factory.mktemp("data")
    write_rows(folder / "rows.txt", make_rows(150, 0))
    write_rows(folder / "new.txt", make_rows(40, 1))
    write_texts(folder / "texts.jsonl", 150, 0)
    write_texts(folder / "more.jsonl", 40, 1)
    for train, test in (("rows.txt", "new.txt"), ("texts.jsonl", "more.jsonl")):
        run("data", "import", folder / train, "--to", folder / f"{train}.store")
        like = ("--like", folder / f"{train}.store")
        run("data", "import", folder / test, "--to", folder / f"{test}.store", *like)
    run("train", folder / "rows.txt.store", "--model", folder / "rows")
    run("train", folder / "texts.jsonl.store", "--model", folder / "texts")
    return folder


@pytest.mark.parametrize(("data", "model"), [("rows.txt", "rows"), ("texts.jsonl", "texts")])
def test_models_of_a_store_are_those_of_the_file(folder: Path, tmp_path: Path, data: str, model: str) -> None:
    run("train", folder / data, "--model", tmp_path / "model")
    assert files_of(tmp_path / "model") == files_of(folder / model)


def test_a_model_of_a_store_of_texts_tags_texts(folder: Path) -> None:
    assert "left0" in run("tag", folder / "texts", "left0 right1").stdout


@pytest.mark.parametrize(("data", "model"), [("new.txt", "rows"), ("more.jsonl", "texts")])
def test_predictions_and_figures_are_those_of_the_file(folder: Path, data: str, model: str) -> None:
    store = folder / f"{data}.store"
    expected = run("predict", folder / model, folder / data).stdout
    assert run("predict", folder / model, store).stdout == expected
    one, other = (run_json("evaluate", folder / model, source) for source in (store, folder / data))
    for name in ("rows", "metrics", "decided", "unknown"):
        assert one[name] == other[name]
    compared = run_json("compare", folder / model, folder / model, store)
    assert compared["rows"] == 40


@pytest.mark.parametrize("command", ["decide", "calibrate"])
@pytest.mark.parametrize(("data", "model"), [("new.txt", "rows"), ("more.jsonl", "texts")])
def test_models_are_changed_by_stores_as_by_files(
    folder: Path, tmp_path: Path, command: str, data: str, model: str
) -> None:
    import shutil

    for name, source in (("a", folder / data), ("b", folder / f"{data}.store")):
        shutil.copytree(folder / model, tmp_path / name)
        run(command, tmp_path / name, source)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


@pytest.mark.parametrize(
    ("train", "valid"),
    [
        ("rows.txt.store", "new.txt.store"),
        ("rows.txt.store", "new.txt"),
        ("rows.txt", "new.txt.store"),
        ("texts.jsonl.store", "more.jsonl.store"),
        ("texts.jsonl.store", "more.jsonl"),
    ],
)
def test_a_search_takes_stores(folder: Path, tmp_path: Path, train: str, valid: str) -> None:
    fixed = ("--arity", 2, "--max-leaves", 4, "--prune", 0.1, "--n-trees", 1, "--C", 1, "--loss", "logistic")
    found = run_json(
        "tune",
        folder / train,
        "--valid",
        folder / valid,
        "--budget",
        "20s",
        "--out",
        tmp_path / "p.json",
        *fixed,
    )
    assert found["valid_rows"] == 40
    assert found["chosen"]["score"] > 0.4


def test_trees_are_built_from_stores(folder: Path, tmp_path: Path) -> None:
    for name in ("rows.txt", "texts.jsonl"):
        run("tree", "build", folder / name, "--out", tmp_path / "a.json")
        run("tree", "build", folder / f"{name}.store", "--out", tmp_path / "b.json")
        assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text()


def test_a_store_is_converted_back(folder: Path, tmp_path: Path) -> None:
    run("convert", folder / "rows.txt.store", tmp_path / "back.txt")
    assert (tmp_path / "back.txt").read_text() == (folder / "rows.txt").read_text()


def test_what_the_import_says(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_rows(tmp_path / f"{name}.txt", make_rows(10, 0))
    text = " ".join(run("data", "import", tmp_path / "*.txt", "--to", tmp_path / "s").stdout.split())
    assert f"{tmp_path}/s: 20 rows, 30 features, 12 labels" in text
    assert f"rows of 2 files, in this order: {tmp_path}/a.txt, {tmp_path}/b.txt" in text
    assert f"Next: labeltree train {tmp_path}/s --model MODEL" in text
    assert "imported in" in text
    again = run("data", "import", tmp_path / "*.txt", "--to", tmp_path / "s").stdout
    assert "already complete" in " ".join(again.split())


def test_import_and_information_for_machines(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "texts.jsonl", 30, 0)
    printed = run_json("data", "import", path, "--to", tmp_path / "s")
    store = Store(tmp_path / "s")
    facts = {"rows": 30, "features": store.n_features, "labels": store.n_labels, "texts": True, "pairs": 60}
    assert printed.items() >= facts.items()
    assert printed["sources"] == [
        {"path": str(path), "format": "jsonl", "bytes": path.stat().st_size, "rows": 30}
    ]
    assert printed["seconds"]["importing"] > 0
    assert run_json("data", "info", tmp_path / "s").items() >= facts.items()
    assert run_json("data", "check", tmp_path / "s")["verified"] is True


def test_information_for_people(folder: Path) -> None:
    text = " ".join(run("data", "info", folder / "texts.jsonl.store").stdout.split())
    assert "150 rows, 7 features, 12 labels (2.0 per row)" in text
    assert "word n-grams of 1" in text
    assert "left0, left0 right0" in text
    assert "all" in run("data", "check", folder / "rows.txt.store").stdout


def test_filtered_pairs_of_a_store_count_in_an_evaluation(folder: Path, tmp_path: Path) -> None:
    truth = Store(folder / "new.txt.store").labels
    pairs = tmp_path / "filter.txt"
    first = [truth.indices[truth.indptr[row]] for row in range(truth.n_rows)]
    pairs.write_text("".join(f"{row} {label}\n" for row, label in enumerate(first)))
    arguments = ("--like", folder / "rows.txt.store", "--filter-labels", pairs)
    run("data", "import", folder / "new.txt", "--to", tmp_path / "s", *arguments)
    expected = run_json("evaluate", folder / "rows", folder / "new.txt", "--filter-labels", pairs)
    found = run_json("evaluate", folder / "rows", tmp_path / "s")
    assert found["metrics"] == expected["metrics"]
    assert found["metrics"] != run_json("evaluate", folder / "rows", folder / "new.txt")["metrics"]
    assert "40 pairs do not count in an evaluation" in run("data", "info", tmp_path / "s").stdout


def test_names_of_labels_come_with_the_store(tmp_path: Path) -> None:
    names = tmp_path / "lbl.json"
    names.write_text("".join(json.dumps({"title": f"Name {n}"}) + "\n" for n in range(12)))
    path = write_rows(tmp_path / "rows.txt", make_rows(60, 0))
    run("data", "import", path, "--to", tmp_path / "s", "--label-names", names)
    assert "12 of 12 labels have names" in run("train", tmp_path / "s", "--model", tmp_path / "m").stdout
    assert "(Name " in run("predict", tmp_path / "m", tmp_path / "s").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("train", "@rows.txt.store", "--model", "@x", "--n-features", 40),
            "--n-features: is for reading files",
        ),
        (("train", "@rows.txt.store", "--model", "@x", "--format", "xmlc"), "--format: is for reading files"),
        (
            ("train", "@texts.jsonl.store", "--model", "@x", "--ngram-range", "1,2"),
            "give it to 'labeltree data import'",
        ),
        (
            ("train", "@rows.txt.store", "--model", "@x", "--stream", "--method", "fasttext"),
            "--stream: is for files",
        ),
        (("predict", "@rows", "@new.txt.store", "--id", "nr"), "--id: is for reading files"),
        (("data", "import", "@rows.txt", "--to", "@x", "--ngram-range", "1,2"), "is an option for texts"),
        (("data", "import", "@rows.txt", "--to", "@x", "--labels", "a"), "option for files with columns"),
        (("data", "import", "@texts.jsonl", "--to", "@x", "--id", "nr"), "keeps no ids"),
        (("data", "import", "@texts.jsonl", "--to", "@x", "--n-labels", 3), "the labels of texts are names"),
        (
            ("data", "import", "@more.jsonl", "--to", "@x", "--like", "@texts.jsonl.store", "--min-df", 2),
            "the words of texts are those of",
        ),
    ],
)
def test_wrong_options(folder: Path, arguments: tuple[Any, ...], message: str) -> None:
    words = [folder / word[1:] if str(word).startswith("@") else word for word in arguments]
    output = " ".join(run(*words, exit_code=2).output.replace("│", " ").split())
    assert message in output
    assert not (folder / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "@rows", "@more.jsonl.store"), "was trained on rows of numbers, but"),
        (("evaluate", "@texts", "@new.txt.store"), "was trained on texts, but"),
        (
            ("predict", "@rows", "@more.jsonl.store"),
            "has rows of texts, but the model was not trained on such rows",
        ),
        (("train", "@rows", "--model", "@x"), "it is not a store. Make one with 'labeltree data import'"),
        (("data", "info", "@nothing"), "there is no such directory"),
        (("data", "import", "@*.csv", "--to", "@x"), "no file has a name like"),
        (("data", "import", "@rows.txt", "--to", "@new.txt.store"), "has a store already"),
        (
            ("tune", "@texts.jsonl.store", "--valid", "@new.txt", "--budget", "1s", "--out", "@p"),
            "expected texts",
        ),
    ],
)
def test_wrong_data(folder: Path, arguments: tuple[Any, ...], message: str) -> None:
    words = [folder / word[1:] if str(word).startswith("@") else word for word in arguments]
    assert message in run(*words, exit_code=1).output


def test_labels_that_are_not_split_are_mentioned(tmp_path: Path) -> None:
    path = tmp_path / "books.csv"
    path.write_text("text,labels\nsea tales,sea;boat\ncats,cat;fur\n")
    assert "add --separator ';'" in run("data", "import", path, "--to", tmp_path / "s").stderr

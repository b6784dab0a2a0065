"""Label names on the command line: stored by `train` and `name`, shown by the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run, run_json

from labeltree.model_file import load, read_info
from labeltree.model_file.lock import ModelLock

TEXTS = [
    ("a boat at sea", "T1"),
    ("a cat at home", "T2"),
    ("boats and the sea", "T1"),
    ("cats and dogs", "T2"),
]
NAMES = {"T1": "shipping", "T2": "pets"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    lines = [json.dumps({"text": text, "labels": [label]}) for text, label in TEXTS]
    (folder / "texts.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "names.csv").write_text("label,name\nT1,shipping\nT2,pets\nT3,more\n")
    run("train", folder / "texts.jsonl", "--model", folder / "plain")
    run("train", folder / "texts.jsonl", "--model", folder / "named", "--label-names", folder / "names.csv")
    return folder


def names_in(path: Path) -> dict[str, str] | None:
    names = load(path).label_names_
    return None if names is None else dict(names)


class TestTrain:
    def test_stores_the_names_of_a_table(self, folder: Path) -> None:
        assert names_in(folder / "plain") is None
        assert names_in(folder / "named") == NAMES

    def test_tells_how_many_labels_have_names(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "one.tsv").write_text("T1\tshipping\n")
        train = ["train", folder / "texts.jsonl", "--model", tmp_path / "model"]
        assert "1 of 2 labels have names" in run(*train, "--label-names", tmp_path / "one.tsv").stdout
        assert run_json(*train, "--label-names", tmp_path / "one.tsv")["label_names"] == 1

    def test_a_vocabulary_in_a_language(self, folder: Path, tmp_path: Path) -> None:
        pytest.importorskip("rdflib")
        (tmp_path / "v.ttl").write_text(
            "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
            '<http://x/T1> a skos:Concept ; skos:prefLabel "shipping"@en , "navigation"@fr .\n'
        )
        options = ["--label-names", tmp_path / "v.ttl", "--language", "fr"]
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model", *options)
        assert names_in(tmp_path / "model") == {"T1": "navigation"}

    def test_other_methods_store_names_too(self, folder: Path, tmp_path: Path) -> None:
        options = ["--method", "one-vs-rest", "--label-names", folder / "names.csv"]
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model", *options)
        assert names_in(tmp_path / "model") == NAMES

    def test_a_taxonomy_names_labels(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("id,parent,name\nall,,everything\nT1,all,shipping\nT2,all,pets\n")
        result = run(
            "train", folder / "texts.jsonl", "--model", tmp_path / "model", "--tree", tmp_path / "t.csv"
        )
        assert names_in(tmp_path / "model") == NAMES
        assert "2 of 2 labels are among 3 concepts, by id" in " ".join(result.stdout.split())

    def test_a_taxonomy_without_names_names_nothing(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("id,parent\nall,\nT1,all\nT2,all\n")
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model", "--tree", tmp_path / "t.csv")
        assert names_in(tmp_path / "model") is None

    def test_a_taxonomy_names_the_columns_of_a_data_file(self, tmp_path: Path) -> None:
        n_labels = 3
        (tmp_path / "train.txt").write_text("0,1 0:1 1:2\n2 2:1\n1 1:1\n")
        lines = ["id,parent,name", *(f"{label},,name {label}" for label in range(n_labels))]
        (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
        run("train", tmp_path / "train.txt", "--model", tmp_path / "model", "--tree", tmp_path / "t.csv")
        assert load(tmp_path / "model").label_names_ == {i: f"name {i}" for i in range(n_labels)}

    def test_names_that_do_not_fit_are_refused_before_training(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "other.csv").write_text("cow,cattle\n")
        options = ["--label-names", tmp_path / "other.csv"]
        result = run("train", folder / "texts.jsonl", "--model", tmp_path / "model", *options, exit_code=1)
        assert "labels are like 'T1', and the file has names for labels like 'cow'" in result.stderr
        assert not (tmp_path / "model").exists()


class TestName:
    def test_names_a_trained_model(self, folder: Path, tmp_path: Path) -> None:
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model", "--weights", "int8")
        run("decide", tmp_path / "model", "--metric", "precision@2")
        before = load(tmp_path / "model")
        result = run("name", tmp_path / "model", folder / "names.csv")
        assert "2 of 2 labels have a name, such as shipping for T1" in " ".join(result.stdout.split())
        after = load(tmp_path / "model", verify=True)
        assert after.label_names_ == NAMES
        assert after.decision_.k == before.decision_.k == 2
        assert read_info(tmp_path / "model").weights == "int8"
        assert run_json("name", tmp_path / "model", folder / "names.csv") == {
            "model": str(tmp_path / "model"),
            "file": str(folder / "names.csv"),
            "labels": 2,
            "label_names": 2,
        }

    def test_a_wrong_file_changes_nothing(self, folder: Path, tmp_path: Path) -> None:
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model")
        before = (tmp_path / "model" / "model.json").read_bytes()
        (tmp_path / "names.csv").write_text("T1\n")
        result = run("name", tmp_path / "model", tmp_path / "names.csv", exit_code=1)
        assert "names.csv:1: expected a label and its name" in result.stderr
        assert (tmp_path / "model" / "model.json").read_bytes() == before

    def test_waits_for_the_lock(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ModelLock.__init__, "__defaults__", (0.1,))
        run("train", folder / "texts.jsonl", "--model", tmp_path / "model")
        with ModelLock(tmp_path / "model", "learns into this model"):
            result = run("name", tmp_path / "model", folder / "names.csv", exit_code=1)
        assert "learns into this model" in result.stderr
        assert names_in(tmp_path / "model") is None


class TestShown:
    def test_info(self, folder: Path) -> None:
        assert "2 (T1: shipping, T2: pets, …), 2 with names" in " ".join(
            run("info", folder / "named").stdout.split()
        )
        assert run_json("info", folder / "named")["label_names"] == 2
        assert run_json("info", folder / "plain")["label_names"] == 0

    def test_predict_lines_have_the_name_beside_the_label(self, folder: Path) -> None:
        predict = ["predict", folder / "named", folder / "texts.jsonl", "-k", 1]
        lines = run(*predict).stdout.splitlines()
        assert [line.rpartition(":")[0] for line in lines] == [
            f"{label} ({NAMES[label]})" for _, label in TEXTS
        ]

    def test_predict_json(self, folder: Path) -> None:
        predict = ["predict", folder / "named", folder / "texts.jsonl", "-k", 1, "--json"]
        records = [json.loads(line) for line in run(*predict).stdout.splitlines()]
        found = [(record["labels"][0]["label"], record["labels"][0]["name"]) for record in records]
        assert found == [(label, NAMES[label]) for _, label in TEXTS]

    def test_a_file_overrides_the_names_of_the_model(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "other.csv").write_text("T1,ships\n")
        predict = ["predict", folder / "named", folder / "texts.jsonl", "-k", 1]
        lines = run(*predict, "--label-names", tmp_path / "other.csv").stdout.splitlines()
        assert [line.rpartition(":")[0] for line in lines] == ["ships", "T2", "ships", "T2"]

    def test_tag(self, folder: Path) -> None:
        assert run("tag", folder / "named", "a boat", "-k", 1).stdout.endswith("%  shipping  T1\n")
        assert run("tag", folder / "plain", "a boat", "-k", 1).stdout.endswith("%  T1\n")
        (found,) = run_json("tag", folder / "named", "a boat", "-k", 1, "--json")["labels"]
        assert (found["label"], found["name"]) == ("T1", "shipping")
        other = run("tag", folder / "plain", "a boat", "-k", 1, "--label-names", folder / "names.csv").stdout
        assert other.endswith("%  shipping  T1\n")

    def test_explain(self, folder: Path) -> None:
        explain = ["explain", folder / "named", folder / "texts.jsonl"]
        text = run(*explain, "--row", 0).stdout
        assert "label T1 (shipping) of row 0" in text
        assert run_json(*explain, "--label", "T2")["name"] == "pets"
        assert run_json(*explain, "--label", "pets")["label"] == "T2"

    def test_trees(self, folder: Path) -> None:
        assert "shipping" in run("info", folder / "named", "--tree").stdout
        assert "shipping" in run("tree", "show", folder / "named").stdout

    def test_report(self, folder: Path, tmp_path: Path) -> None:
        run("evaluate", folder / "named", folder / "texts.jsonl", "--report", tmp_path / "page.html")
        assert "shipping" in (tmp_path / "page.html").read_text(encoding="utf-8")

import json
import subprocess

import numpy as np
import pytest
from benchmarks import data
from benchmarks.data_sets import debian, git_history, pypi, wordnet
from benchmarks.data_sets.features import keep_frequent, split, write_parts
from benchmarks.development import keep_rows, prepare_parts

from labeltree.data import read_xmlc


def test_no_row_is_in_two_parts_and_labels_and_words_are_those_of_training(tmp_path):
    parts = split([([f"label{i % 4}"], f"common word {'rare' if i == 0 else 'often'}") for i in range(100)])
    assert sorted(map(len, parts.values())) == [8, 20, 72]
    parts["dev"].append((["unseen"], "common"))
    write_parts(tmp_path, parts)
    X, y = read_xmlc(tmp_path / "train.txt")
    assert (tmp_path / "words.txt").read_text().split() == ["common", "often", "word"]
    assert y.shape == (72, 4)
    np.testing.assert_allclose(X.power(2).sum(axis=1), 1, rtol=1e-3)
    assert read_xmlc(tmp_path / "dev.txt")[0].shape[0] == 8


def test_rare_labels_and_rows_that_have_no_others_are_left_out():
    assert keep_frequent([(["a", "b", "a"], "1"), (["b"], "2"), (["a"], "3")], 2) == [
        (["a", "b"], "1"),
        (["b"], "2"),
        (["a"], "3"),
    ]
    assert keep_frequent([(["a"], "1"), (["a", "b"], "2"), (["b", "c"], "3"), (["c"], "4")], 3) == []


def test_packages_have_the_labels_of_their_fields(monkeypatch):
    package = {
        "Tag": "role::program, use::{text, image}",
        "Depends": "libc6 (>= 2.3), awk | gawk",
        "Suggests": "vim",
    }
    monkeypatch.setattr(debian, "_described_packages", lambda: iter([(package, "a text")]))
    assert list(debian.dependencies()) == [(["awk", "gawk", "libc6", "vim"], "a text")]
    assert list(debian.tags()) == [(["role::program"], "a text")]


def test_lines_of_a_field_that_continues_are_joined(monkeypatch):
    index = "Package: one\nTag: a::b,\n c::d\n\nPackage: two\nVersion: 1\n"
    monkeypatch.setattr(debian, "_output", lambda *command: index)
    assert list(debian._stanzas("index")) == [
        {"Package": "one", "Tag": "a::b, c::d"},
        {"Package": "two", "Version": "1"},
    ]


def test_a_gloss_has_its_words_and_all_hypernyms(monkeypatch):
    lines = [
        "00000001 03 n 01 entity 0 000 | that which exists",
        "00000002 03 n 02 Animal 0 beast 1 001 @ 00000001 n 0000 | a living thing",
        "00000003 03 n 01 dog 0 001 @ 00000002 n 0000 | a barking animal",
        "00000004 03 n 01 dog 1 001 @i 00000002 n 0000 | a mean fellow",
    ]
    synsets = {f"n{line[:8]}": wordnet._synset(line) for line in lines}
    monkeypatch.setattr(wordnet, "_synsets", lambda: synsets)
    assert list(wordnet.words()) == [(["dog"], "a barking animal"), (["dog"], "a mean fellow")]
    assert list(wordnet.hypernyms()) == [
        (["n00000001"], "a living thing"),
        (["n00000001", "n00000002"], "a barking animal"),
        (["n00000001", "n00000002"], "a mean fellow"),
    ]


def test_commits_have_the_files_that_they_change(tmp_path, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")

    def commit(message, *names):
        for name in names:
            (tmp_path / name).write_text(message)
        subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
        subprocess.run(["git", "-C", tmp_path, "commit", "-qm", message], check=True)

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    commit("first", "a.c", "ü.c")
    commit("second\n\nSigned-off-by: A <a@example.com>", "a.c", "once.c")
    commit("third", "ü.c")
    found = [(labels, text.strip()) for labels, text in git_history.changed_files(tmp_path)]
    assert found == [(["ü.c"], "third"), (["a.c"], "second"), (["a.c", "ü.c"], "first")]


@pytest.mark.parametrize(
    ("field", "keywords"),
    [("Web, http client,", ["web", "http client"]), ("web http", ["web", "http"]), ("", [])],
)
def test_python_packages_have_keywords_and_classifiers(tmp_path, field, keywords):
    info = {
        "name": "x",
        "summary": "A",
        "description": None,
        "keywords": field,
        "classifiers": ["Topic :: Web"],
    }
    (tmp_path / "packages.jsonl").write_text(json.dumps(info) + "\n")
    assert list(pypi.read_packages(tmp_path / "packages.jsonl")) == [([*keywords, "Topic :: Web"], "A ")]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "CACHE", tmp_path / "cache")
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name, n_rows in (("train", 40), ("test", 5)):
        rows = [f"{i % 4 + 4 * (i == 10)} {i % 4}:1\n" for i in range(n_rows)]
        (folder / f"{name}.txt").write_text(f"{n_rows} 5 9\n" + "".join(rows))
    monkeypatch.setattr(data, "prepare", lambda name: (folder / "train.txt", folder / "test.txt"))
    return folder


def test_every_tenth_training_row_of_other_sets_is_a_development_row(tiny):
    parts = prepare_parts("tiny")
    shapes = [read_xmlc(path)[1].shape for path in (parts.train, parts.dev, parts.test)]
    assert shapes == [(36, 4), (3, 4), (5, 4)]  # the label of the tenth row has no training row
    assert prepare_parts(str(parts.train.parent)) == parts


def test_a_part_of_the_training_rows_can_be_drawn(tiny):
    parts = prepare_parts("tiny")
    drawn = keep_rows(parts, 20)
    assert read_xmlc(drawn.train)[0].shape[0] == 20
    assert keep_rows(parts, 100) == parts

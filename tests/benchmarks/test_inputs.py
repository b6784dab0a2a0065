import os

import pytest
import scipy.sparse as sp
from benchmarks import inputs
from benchmarks.inputs import FORMS, Inputs
from sklearn.preprocessing import normalize

from labeltree.data import read_texts, read_xmlc

TRAIN = "5 4 6\n0,5 1:0.5 3:2\n2 0:1.25\n 2:3\n1:1 2:1\n4\n"
TEST = "1 4 6\n5 3:1\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CACHE", tmp_path / "cache")
    (tmp_path / "train.txt").write_text(TRAIN)
    (tmp_path / "test.txt").write_text(TEST)
    return Inputs(tmp_path / "train.txt", tmp_path / "test.txt")


def test_matrices_are_those_of_the_file_with_rows_of_unit_length(files):
    X, y = read_xmlc(files.train)
    assert (sp.load_npz(files.path("labels")) != y).nnz == 0
    assert abs(sp.load_npz(files.path("features")) - normalize(X)).max() < 1e-6
    assert sp.load_npz(files.test_features()).shape == (1, 4)


def test_vowpal_wabbit_gets_labels_and_weighted_features(files):
    assert files.path("vowpalwabbit").read_text().splitlines() == [
        "0,5 | 1:0.5 3:2",
        "2 | 0:1.25",
        " | 2:3",
        " | 1:1 2:1",
        "4 | ",
    ]


def test_fasttext_gets_labels_and_words(files):
    read = read_texts(files.path("fasttext"), format="fasttext")
    assert read.labels == [["0", "5"], ["2"], [], [], ["4"]]
    assert [text.split() for text in read.texts] == [["1", "3"], ["0"], ["2"], ["1", "2"], []]


@pytest.mark.parametrize("form", FORMS)
def test_files_are_made_once_and_again_when_the_source_changes(files, form):
    path = files.path(form)
    assert files.path(form) == path
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    changed = files.train.stat().st_mtime + 10
    os.utime(files.train, (changed, changed))
    assert files.path(form) != path

import re

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.runner import data, features
from experiments.runner.features import read_problem, take_rows

from labeltree.data import read_word_vectors, write_xmlc

TEXTS = {
    "train": ["sea boat", "boat wave sea", "oak elm", "elm leaf oak", "oak"],
    "test": ["a boat", "nothing"],
}
WORDS = ["boat", "elm", "leaf", "oak", "sea", "wave"]
SOURCE = f"def pictures(split):\n    for text in {TEXTS!r}[split]:\n        yield [], text\n"


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """A data set with texts, as the folder that LABELTREE_DATA names has them."""
    monkeypatch.setenv("LABELTREE_DATA", str(tmp_path))
    (tmp_path / "make_xmlc.py").write_text(SOURCE)
    for split, texts in TEXTS.items():
        X = sp.csr_matrix(
            [[float(word in text.split()) for word in WORDS] for text in texts], dtype=np.float32
        )
        y = sp.csr_matrix(np.eye(len(texts), 2, dtype=np.float32))
        write_xmlc(tmp_path / f"{split}.txt", X, y)
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    monkeypatch.setattr(data, "prepare", lambda name: (tmp_path / "train.txt", tmp_path / "test.txt"))
    monkeypatch.setattr(data, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(features, "FOLDER", tmp_path / "build")
    monkeypatch.setattr(features, "CACHE", tmp_path / "cache")
    return tmp_path


def test_words_are_those_of_the_files(pictures):
    problem = read_problem("pictures", None, "words", 1)
    assert problem.X_train.shape == (5, 6)
    assert problem.X_test.toarray()[0].tolist() == [1, 0, 0, 0, 0, 0]
    assert problem.y_test.shape == (2, 2)


def test_word_vectors_are_made_once_and_pooled(pictures):
    problem = read_problem("pictures", 3, "mean + max + min", 1)
    path = pictures / "build" / "inputs" / "pictures-word-vectors.txt"
    words, vectors = read_word_vectors(path)
    assert words == WORDS
    # The Gram matrix of the vectors approximates the root of the co-occurrences XᵀX, here in full but one dimension.
    assert vectors.shape == (6, 5)
    known = np.array([vectors[WORDS.index(w)] for w in re.findall(r"\w+", TEXTS["train"][1])])
    expected = np.concatenate([known.mean(axis=0), known.max(axis=0), known.min(axis=0)])
    np.testing.assert_allclose(problem.X_train[1], expected, rtol=1e-5, atol=1e-6)
    assert problem.X_train.shape == (3, 15)
    assert not problem.X_test[1].any()
    written = path.stat().st_mtime_ns
    read_problem("pictures", None, "mean", 1)
    assert path.stat().st_mtime_ns == written


def test_words_that_come_together_have_similar_vectors():
    together = sp.csr_matrix([[1, 1, 0, 0], [2, 2, 0, 0], [0, 0, 1, 1], [0, 0, 3, 3.0]])
    vectors = features.co_occurrence_vectors(together)
    similar = vectors @ vectors.T
    assert similar[0, 1] > 0.1
    assert similar[2, 3] > 0.1
    assert abs(similar[0, 2]) < 1e-6


def test_embeddings_that_are_there_are_taken(pictures):
    folder = pictures / "cache" / "pictures-embeddings"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    made = {split: rng.random((len(texts), 3), dtype=np.float32) for split, texts in TEXTS.items()}
    for split, values in made.items():
        np.save(folder / f"{split}.npy", values)
    alone = read_problem("pictures", 4, "embeddings", 1)
    np.testing.assert_array_equal(alone.X_train, made["train"][:4])
    both = read_problem("pictures", 4, "words + embeddings", 1)
    words, dense = take_rows(both.X_train, np.array([3, 1]))
    np.testing.assert_array_equal(dense, made["train"][[3, 1]])
    assert words.shape == (2, 6)


def test_texts_that_are_not_there(pictures, monkeypatch):
    monkeypatch.setenv("LABELTREE_DATA", str(pictures / "nowhere"))
    with pytest.raises(SystemExit, match="set LABELTREE_DATA"):
        features.read_texts("pictures", "train")

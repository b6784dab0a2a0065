"""WordVectorizer, against a twin that takes one text after the other."""

from __future__ import annotations

import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union

from labeltree import LabelTreeClassifier
from labeltree.data import WordVectors, read_word_vectors, write_word_vectors
from labeltree.text.word_vectorizer import POOLINGS, WordVectorizer

WORDS = ["sea", "boat", "wave", "Tree", "old"]
VALUES = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
VECTORS = WordVectors(WORDS, VALUES)
TEXTS = ["A boat, a boat on the SEA", "old waves and wave", "", "nothing known", "tree"]

texts = st.lists(st.lists(st.sampled_from([*WORDS, "sky", "SEA"]), max_size=6).map(" ".join), max_size=8)


def twin(texts: list[str], pooling: list[str], seen_in: list[str] | None = None) -> np.ndarray[Any, Any]:
    """The definition, text by text; with `seen_in`, the mean weighted by idf."""
    tokens = [re.findall(r"\b\w\w+\b", text.lower()) for text in texts]
    rows = []
    for words in tokens:
        known = [word for word in words if word in WORDS]
        vectors = np.array([VALUES[WORDS.index(word)] for word in known], dtype=np.float64).reshape(-1, 3)
        weights = np.ones(len(known))
        if seen_in is not None:
            df = [sum(word in re.findall(r"\b\w\w+\b", t.lower()) for t in seen_in) for word in known]
            weights = np.array([math.log((1 + len(seen_in)) / (1 + n)) + 1 for n in df])
        made = {
            "mean": lambda v, w: (v * w[:, None]).sum(axis=0) / w.sum(),
            "max": lambda v, w: v.max(axis=0),
            "min": lambda v, w: v.min(axis=0),
        }
        rows.append(np.concatenate([made[p](vectors, weights) if known else np.zeros(3) for p in pooling]))
    return np.array(rows).reshape(len(texts), -1)


@given(texts, st.permutations(POOLINGS), st.integers(1, 3))
def test_like_the_twin(texts: list[str], poolings: list[str], n: int) -> None:
    pooling = poolings[:n]
    found = WordVectorizer(VECTORS, pooling=pooling).fit(texts).transform(texts)
    assert found.dtype == np.float32
    assert found.shape == (len(texts), 3 * n)
    if texts:
        np.testing.assert_allclose(found, twin(texts, pooling), rtol=1e-5, atol=1e-6)


@given(texts, texts)
def test_idf_like_the_twin(seen: list[str], texts: list[str]) -> None:
    model = WordVectorizer(VECTORS, pooling=("mean", "min"), idf=True).fit(seen)
    expected = twin(texts, ["mean", "min"], seen) if texts else np.empty((0, 6))
    np.testing.assert_allclose(model.transform(texts), expected, rtol=1e-5, atol=1e-6)


def test_idf_is_that_of_scikit_learn() -> None:
    found = WordVectorizer(VECTORS, idf=True).fit(TEXTS)
    theirs = TfidfVectorizer(vocabulary=["sea", "boat", "wave", "old"]).fit(TEXTS)
    rows = [found.vocabulary_[word] for word in ("sea", "boat", "wave", "old")]
    np.testing.assert_allclose(found.idf_[rows], theirs.idf_, rtol=1e-6)


def test_texts_without_known_words_are_zero() -> None:
    found = WordVectorizer(VECTORS, pooling=POOLINGS, idf=True).fit(TEXTS).transform(TEXTS)
    assert not found[2:].any()  # "tree" is not "Tree"
    assert found[:2].any(axis=1).all()


def test_case_and_tokenizer() -> None:
    model = WordVectorizer(VECTORS, lowercase=False, tokenizer=str.split).fit([])
    np.testing.assert_array_equal(model.transform(["Tree", "sea,", "SEA"]), [VALUES[3], [0] * 3, [0] * 3])
    model = WordVectorizer(VECTORS, tokenizer="s..").fit([])
    np.testing.assert_array_equal(model.transform(["overseas"]), [VALUES[0]])


@pytest.mark.parametrize(
    ("vocabulary", "max_words", "kept"),
    [
        (None, None, WORDS),
        (None, 2, WORDS[:2]),
        ("seen", None, ["sea", "boat", "wave", "old"]),
        ("seen", 2, ["sea", "boat"]),
        (["old", "sky"], None, ["old"]),
    ],
)
def test_what_is_kept(vocabulary: Any, max_words: int | None, kept: list[str], tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    write_word_vectors(path, WORDS, VALUES)
    for vectors in (path, str(path), read_word_vectors(path)):
        model = WordVectorizer(vectors, vocabulary=vocabulary, max_words=max_words).fit(TEXTS)
        assert list(model.vocabulary_) == kept
        np.testing.assert_array_equal(model.vectors_, VALUES[[WORDS.index(word) for word in kept]])


def test_the_first_vector_of_a_word_counts() -> None:
    twice = WordVectors(["sea", "sea"], np.array([[1.0], [2.0]], dtype=np.float32))
    np.testing.assert_array_equal(WordVectorizer(twice).fit([]).transform(["sea"]), [[1.0]])


def test_scikit_learn_conventions() -> None:
    model = WordVectorizer(VECTORS, pooling=("max", "min"))
    copied = clone(model)
    assert copied.get_params()["pooling"] == ("max", "min")
    fitted = pickle.loads(pickle.dumps(copied.fit(TEXTS)))
    np.testing.assert_array_equal(fitted.transform(TEXTS), model.fit_transform(TEXTS))
    assert list(fitted.get_feature_names_out()) == ["max_0", "max_1", "max_2", "min_0", "min_1", "min_2"]
    frame = model.set_output(transform="pandas").fit_transform(TEXTS)
    assert list(frame.columns) == list(fitted.get_feature_names_out())


def test_in_a_pipeline() -> None:
    texts, tags = ["a boat on the sea", "an old tree"] * 4, [["water"], ["wood"]] * 4
    both = make_union(TfidfVectorizer(), WordVectorizer(VECTORS))
    for features in (WordVectorizer(VECTORS), both):
        tagger = make_pipeline(features, LabelTreeClassifier(random_state=0, n_jobs=1)).fit(texts, tags)
        assert tagger.predict(["the sea", "old"]) == [["water"], ["wood"]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pooling": "median"}, "'pooling' must be one or several different of .* got 'median'"),
        ({"pooling": []}, "'pooling' must be"),
        ({"pooling": ["max", "max"]}, "'pooling' must be"),
        ({"pooling": "max", "idf": True}, "idf weighs words in the mean, but pooling is 'max'"),
        ({"vocabulary": "all"}, "'vocabulary' must be 'seen', a collection of words or None, got 'all'"),
        ({"max_words": 0}, "'max_words' must be an integer of at least 1"),
        ({"lowercase": 1}, "'lowercase' must be True or False"),
        ({"vectors": WordVectors(["a"], VALUES)}, r"each of 1 words, got the shape \(5, 3\)"),
        ({"vectors": WordVectors(["a"], VALUES[:1] * np.nan)}, "vector of 'a'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordVectorizer(**{"vectors": VECTORS, **parameters}).fit(TEXTS)


def test_bad_texts() -> None:
    model = WordVectorizer(VECTORS).fit(TEXTS)
    with pytest.raises(ValueError, match="expected a sequence of texts, got a single string"):
        model.transform("the sea")
    with pytest.raises(ValueError, match="expected a string as text 1, got int: 3"):
        model.transform(["the sea", 3])

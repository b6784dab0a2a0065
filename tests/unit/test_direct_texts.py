"""Texts that the kernel reads directly, against the matrix of the same texts; labels at positions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import any_text, sea_texts

from labeltree.labels.label_index import LabelIndex
from labeltree.text import Tagger, TextVectorizer

TEXTS = ["a boat on the sea", "Boats and the SEA, the sea", "a cat on a mat", "Katze: die Straße", ""]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"sublinear_tf": True, "norm": None},
    {"n_features": 64, "use_idf": False},
    {"char_ngram_range": (2, 3), "norm": "l1"},
    {"buckets": 32, "ngram_range": (1, 2), "binary": True},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@given(texts=st.lists(st.one_of(sea_texts, any_text), max_size=5))
def test_features_are_those_of_the_matrix(settings: dict[str, Any], texts: list[str]) -> None:
    vectorizer = TextVectorizer(**settings).fit(TEXTS)
    expected = vectorizer.transform(texts)
    for n_threads in (1, 3):
        found = vectorizer.features.read(texts, n_threads)
        assert (found.n_rows, found.n_features) == expected.shape
        for row in range(len(texts)):
            index, value = found.row(row)
            assert index.tolist() == expected[row].indices.tolist()
            assert value.tolist() == expected[row].data.tolist()


def test_one_text_a_batch_and_the_matrix_have_the_same_labels() -> None:
    tagger = Tagger().fit(TEXTS, [["sea", "boat"], ["sea"], ["cat"], ["cat"], []])
    asked = [*TEXTS, "a sea of cats", "nothing known", "ΣΑΣ boat"]
    batch = tagger.predict_topk(asked, 3)
    matrix = tagger.predict_topk(tagger.vectorizer_.transform(asked), 3)
    for i, text in enumerate(asked):
        alone = tagger.predict_topk([text], 3)
        for other in (batch, matrix):
            assert alone.labels[0].tolist() == other.labels[i].tolist()
            assert alone.probabilities[0].tolist() == other.probabilities[i].tolist()


def test_arrays_outlive_the_features_and_may_be_changed() -> None:
    vectorizer = TextVectorizer().fit(TEXTS)
    X = vectorizer.transform(TEXTS)
    indptr, indices, data = vectorizer.features.read(TEXTS, 1).arrays
    assert [array.tolist() for array in (indptr, indices, data)] == [
        array.tolist() for array in (X.indptr, X.indices, X.data)
    ]
    data *= 2  # as users do with X.data
    assert data.tolist() == (X.data * 2).tolist()


def test_a_bad_text_is_refused_with_its_place() -> None:
    tagger = Tagger().fit(TEXTS, [["sea", "boat"], ["sea"], ["cat"], ["cat"], []])
    with pytest.raises(ValueError, match="text 1: expected a string, got int"):
        tagger.predict_topk(["a boat", 7])


@pytest.mark.parametrize(
    ("classes", "missing"),
    [
        (np.array(["b", "a", 3], dtype=object), None),
        (np.array([7, 5, 3], dtype=np.int32), -1),
        (np.array([7, 5, 3], dtype=np.uint8), -1),
        (np.array(["b", "a", "c"]), None),
        (np.array([0.5, 1.5, 2.5]), -1),
    ],
)
def test_labels_at_positions(classes: np.ndarray[Any, Any], missing: Any) -> None:
    index = LabelIndex(classes)
    whole = index.at(np.array([[2, 0], [1, 1]], dtype=np.int32))
    assert whole.dtype == classes.dtype
    assert whole.tolist() == classes[[[2, 0], [1, 1]]].tolist()
    part = index.at(np.array([[2, -1]], dtype=np.int32))
    assert part.tolist() == [[classes.tolist()[2], missing]]
    again = pickle.loads(pickle.dumps(index))
    assert vars(again).keys() == {"classes"}
    assert again.classes.tolist() == classes.tolist()

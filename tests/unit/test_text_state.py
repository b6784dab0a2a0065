"""The state of a vectorizer: it comes back as it was, and hostile arrays are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import random_texts

from labeltree.text import TextVectorizer

pytestmark = pytest.mark.native

TEXTS = [*random_texts(40), "\ud800 \udfff surrogates", "ΟΔΟΣ"]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"use_idf": False, "stop_words": "english", "ngram_range": (1, 2), "norm": None},
        {"analyzer": "char", "ngram_range": [1, 3], "strip_accents": "unicode", "min_df": 0.1},
        {"char_ngram_range": (2, 3), "stop_words": {"w1", "été"}, "max_features": np.int64(50), "n_jobs": 2},
        {"n_features": 100},
        {"n_features": 100, "use_idf": False, "char_ngram_range": (2, 2)},
        {"buckets": 100, "ngram_range": (1, 3), "stop_words": "english", "min_df": 2},
        {"buckets": 100, "analyzer": "whitespace", "char_ngram_range": (2, 3), "use_idf": False},
    ],
)
def test_it_comes_back(parameters: dict[str, Any], tmp_path: Path) -> None:
    vectorizer = TextVectorizer(**parameters)
    rows = vectorizer.fit_transform(TEXTS)
    stored, arrays = vectorizer.state()
    mapped = {}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    again = TextVectorizer.from_state(json.loads(json.dumps(stored)), mapped)
    assert (again.transform(TEXTS) != rows).nnz == 0
    assert list(again.get_feature_names_out()) == list(vectorizer.get_feature_names_out())
    for name, value in vectorizer.get_params().items():
        expected = tuple(sorted(value)) if isinstance(value, set) else value
        assert again.get_params()[name] == (tuple(value) if isinstance(value, list) else expected)
    assert again.state()[0] == stored


def test_arrays_are_not_copied() -> None:
    stored, arrays = TextVectorizer().fit(TEXTS).state()
    again = TextVectorizer.from_state(stored, arrays)
    for name, array in again.state()[1].items():
        assert np.shares_memory(array, arrays[name])


def terms(*words: bytes) -> dict[str, Any]:
    begin = np.cumsum([0, *map(len, words)], dtype=np.int64)
    return {"text": np.frombuffer(b"".join(words), dtype=np.uint8), "text_begin": begin}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "expected text as a 1-d array of uint8, got NoneType"),
        ({"text": np.zeros(7, dtype=np.int8)}, "expected text as a 1-d array of uint8, got int8"),
        ({"text": np.zeros((7, 1), dtype=np.uint8)}, r"got uint8 of shape \(7, 1\)"),
        ({"text": np.zeros(6, dtype=np.uint8)}, "do not span"),
        ({"text_begin": np.zeros(0, dtype=np.int64)}, "do not span"),
        ({"text_begin": np.array([1, 4, 7])}, "do not span"),
        ({"text_begin": np.array([0, 4, 8])}, "do not span"),
        ({"text_begin": np.array([0, 9, 7])}, "term 1 is empty or its offsets decrease"),
        ({"text_begin": np.array([0, -(2**62), 7])}, "term 0 is empty or its offsets decrease"),
        ({"text_begin": np.array([0, 0, 7])}, "term 0 is empty"),
        ({"text_begin": np.array([0, 4, 7], dtype=np.int32)}, "expected text_begin as a 1-d array of int64"),
        (terms(b"sea", b"boat"), "term 1 does not come after the one before"),
        (terms(b"sea", b"sea"), "term 1 does not come after the one before"),
        (terms(b"boat", b"\xff\xff"), "term 1 is not UTF-8"),
        (terms(b"boat", b"sea\xc3"), "term 1 is not UTF-8"),
        (terms(b"boat", b"\xc0\xaf"), "term 1 is not UTF-8"),
        (terms(b"boat", b"\xf4\x90\x80\x80"), "term 1 is not UTF-8"),
        (terms(b"boat", b"\x80"), "term 1 is not UTF-8"),
        (terms(b"boat", b"sea", b"sky"), "expected 3 numbers of idf"),
        ({"idf": np.ones(3)}, "expected 2 numbers of idf"),
        ({"idf": np.array([1, np.nan])}, "finite and above 0"),
        ({"idf": np.array([1, np.inf])}, "finite and above 0"),
        ({"idf": np.array([1.0, 0.0])}, "finite and above 0"),
        ({"idf": np.ones(2, dtype=np.float32)}, "expected idf as a 1-d array of float64"),
        ({"more": np.ones(2)}, r"expected the arrays \['text', 'text_begin', 'idf'\]"),
    ],
)
def test_hostile_arrays(change: dict[str, Any], message: str) -> None:
    stored, arrays = TextVectorizer().fit(["boat", "sea"]).state()
    with pytest.raises(ValueError, match=message):
        TextVectorizer.from_state(stored, {**arrays, **change})


@pytest.mark.parametrize("missing", ["text", "text_begin", "idf"])
def test_missing_arrays(missing: str) -> None:
    stored, arrays = TextVectorizer().fit(["boat", "sea"]).state()
    del arrays[missing]
    with pytest.raises(ValueError, match="expected the arrays"):
        TextVectorizer.from_state(stored, arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"analyzer": "line"}, "'analyzer' must be"),
        ({"ngram_range": [1]}, "'ngram_range' must be"),
        ({"ngram_range": {"1": 2}}, "'ngram_range' must be"),
        ({"stop_words": [["sea"]]}, "'stop_words' must be"),
        ({"n_jobs": [2]}, "'n_jobs' must be"),
        ({"n_features": 10}, "expected the arrays"),
        ({"char_ngram_range": [1, 2]}, "expected the arrays"),
        ({"token_pattern": "x"}, "got also .*token_pattern"),
    ],
)
def test_hostile_settings(change: dict[str, Any], message: str) -> None:
    stored, arrays = TextVectorizer().fit(["boat", "sea"]).state()
    with pytest.raises(ValueError, match=message):
        TextVectorizer.from_state({**stored, **change}, arrays)


def test_settings_that_are_none() -> None:
    with pytest.raises(ValueError, match="expected the parameters of a TextVectorizer"):
        TextVectorizer.from_state([1], {})  # type: ignore[arg-type]


@given(st.binary(max_size=12), st.lists(st.integers(-3, 14), max_size=5))
def test_any_arrays_are_refused_or_work(text: bytes, offsets: list[int]) -> None:
    arrays = {"text": np.frombuffer(text, dtype=np.uint8), "text_begin": np.array(offsets, dtype=np.int64)}
    stored, _ = TextVectorizer(analyzer="char", use_idf=False).fit(["boat"]).state()
    try:
        vectorizer = TextVectorizer.from_state(stored, arrays)
    except ValueError:
        return
    names = list(vectorizer.get_feature_names_out())
    assert len(names) == len(offsets) - 1
    assert names == sorted(set(names))
    vectorizer.transform(["any text", *names])

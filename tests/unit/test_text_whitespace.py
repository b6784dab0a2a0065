"""Words that white space separates, against `str.split`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Normalizer
from tests.texts import ODD, any_text, ngram_ranges, random_texts, sea_texts
from tests.unit.test_text_vectorizer import assert_same_rows, fitted_rows

from labeltree.text import TextVectorizer

pytestmark = pytest.mark.native

texts_of = st.lists(st.one_of(sea_texts, any_text), min_size=1, max_size=8)


@given(any_text)
@example(ODD)
@example("a\x1cb\x85c\u2028d\u200be\u180ef \t\n")
@example("\ud800 \udfff")
def test_words_are_those_of_split(text: str) -> None:
    found = TextVectorizer(analyzer="whitespace", lowercase=False, use_idf=False, norm=None)
    words = Counter(text.split())
    if not words:
        with pytest.raises(ValueError, match="no terms are left"):
            found.fit([text])
        return
    [row] = found.fit_transform([text]).toarray().tolist()
    assert dict(zip(found.get_feature_names_out(), row, strict=True)) == words


def test_every_character() -> None:
    codes = [*range(0xD800), *range(0xE000, 0x110000)]
    texts = [
        "".join(f"a{chr(c)}b" for c in codes[first : first + 5000]) for first in range(0, len(codes), 5000)
    ]
    found = TextVectorizer(analyzer="whitespace", lowercase=False, use_idf=False, norm=None).fit(texts)
    assert set(found.get_feature_names_out()) == {word for text in texts for word in text.split()}


@settings(max_examples=60)
@given(
    texts_of,
    texts_of,
    ngram_ranges,
    st.booleans(),
    st.sampled_from([None, "unicode", "ascii"]),
    st.sampled_from([None, ["sea", "X", ","]]),
    st.sampled_from([1, 2]),
    st.integers(1, 3),
)
def test_like_scikit_learn_with_split(
    texts: list[str],
    others: list[str],
    ngram_range: tuple[int, int],
    lowercase: bool,
    strip_accents: Any,
    stop_words: Any,
    min_df: int,
    jobs: int,
) -> None:
    parameters = {
        "ngram_range": ngram_range,
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "stop_words": stop_words,
        "min_df": min_df,
    }
    expected = TfidfVectorizer(tokenizer=str.split, token_pattern=None, **parameters)
    found = TextVectorizer(analyzer="whitespace", **parameters, n_jobs=jobs)
    rows, own = fitted_rows(expected, texts), fitted_rows(found, texts)
    assert (rows is None) == (own is None)
    if rows is None or own is None:
        return
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    assert_same_rows(own, rows)
    assert_same_rows(found.transform(others), expected.transform(others))


def test_characters_beside_words_and_stems() -> None:
    """N-grams of characters are those of `char_wb`, of the words before they are stemmed."""
    texts = [*random_texts(20), "Boats, boats! a b", "x"]
    words = TfidfVectorizer(tokenizer=str.split, token_pattern=None, norm=None)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), norm=None)
    expected = make_pipeline(FeatureUnion([("word", words), ("char", characters)]), Normalizer("l2"))
    found = TextVectorizer(analyzer="whitespace", char_ngram_range=(2, 3))
    assert_same_rows(found.fit_transform(texts), expected.fit_transform(texts))
    stemmed = TextVectorizer(analyzer="whitespace", stemmer="english").fit(["boats boat Boats, a b"])
    assert list(stemmed.get_feature_names_out()) == ["a", "b", "boat", "boats,"]


def test_hashed() -> None:
    texts = random_texts(10)
    parameters: dict[str, Any] = {"ngram_range": (1, 2), "n_features": 64, "use_idf": False}
    own = TextVectorizer(tokenizer="tests.tokenizers:split_at_spaces", **parameters).transform(texts)
    assert (TextVectorizer(analyzer="whitespace", **parameters).transform(texts) != own).nnz == 0

"""TextVectorizer, against scikit-learn's vectorizers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from labeltree.text import TextVectorizer

pytestmark = pytest.mark.native

#: Characters that lower case, accents, the splitting or the encoding treat in ways of their own.
ODD = (
    "Σ\u03c3ςİ\u0131ßẞÉéeÅåñ\u0301\u0307\u0327ǅﬁﷺ½²Ⅷ٣א\u05b4ב中国한글\U0001d400\U00010400\U0001f600\u200d\u200f\u00ad\u0000_"
    "\t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u3000"
)
encodable = st.text(
    st.one_of(
        st.sampled_from("abcAB12_ -.,'  "),
        st.sampled_from(ODD),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)
any_text = st.one_of(
    encodable, st.text(st.one_of(st.sampled_from("ab \ud800\udfff"), st.characters()), max_size=20)
)
sea = st.lists(
    st.sampled_from(["sea", "Boat", "the", "and", "wave", "X", "ÉTÉ", "ΟΔΟΣ", ", ", "\n"]), max_size=12
).map(" ".join)
texts_of = st.lists(st.one_of(sea, any_text), min_size=1, max_size=8)

ngram_ranges = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))
analyses = st.fixed_dictionaries(
    {
        "ngram_range": ngram_ranges,
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
    }
)
stop_words = st.sampled_from([None, "english", ["sea", "été", "", "X"]])
analyzers = st.one_of(
    st.fixed_dictionaries({"analyzer": st.just("word"), "stop_words": stop_words}),
    st.fixed_dictionaries({"analyzer": st.sampled_from(["char", "char_wb"])}),
)
n_texts = st.one_of(st.integers(1, 3), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
choices = st.fixed_dictionaries(
    {"min_df": n_texts, "max_df": n_texts, "max_features": st.one_of(st.none(), st.integers(1, 9))}
)
weights = st.fixed_dictionaries(
    {
        "binary": st.booleans(),
        "use_idf": st.booleans(),
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
        "norm": st.sampled_from(["l1", "l2", None]),
    }
)
NO_CHOICE = {"min_df": 1, "max_df": 1.0, "max_features": None}


def peer(**parameters: Any) -> TfidfVectorizer:
    parameters.setdefault("stop_words", None)
    return TfidfVectorizer(**parameters)


def fitted_rows(vectorizer: Any, texts: list[str]) -> sp.csr_matrix | None:
    """The rows of fit_transform, or None where there is nothing to learn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
        try:
            return vectorizer.fit_transform(texts)
        except ValueError:
            return None


def assert_same_rows(found: sp.csr_matrix, expected: sp.csr_matrix) -> None:
    expected = sp.csr_matrix(expected)
    expected.sort_indices()
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-6)


@settings(max_examples=200)
@given(
    texts_of,
    texts_of,
    analyzers,
    analyses,
    st.one_of(st.just(NO_CHOICE), choices),
    weights,
    st.integers(1, 3),
)
@example(["ΟΔΟΣ ΣΑΣ Σ", "aΣ"], ["Σ\u0301 ΑΣ."], {"analyzer": "word"}, {"lowercase": True}, NO_CHOICE, {}, 1)
def test_like_scikit_learn(
    texts: list[str],
    others: list[str],
    analyzer: dict[str, Any],
    analysis: dict[str, Any],
    choice: dict[str, Any],
    weight: dict[str, Any],
    jobs: int,
) -> None:
    parameters = {**analyzer, **analysis, **choice, **weight}
    expected, found = peer(**parameters), TextVectorizer(**parameters, n_jobs=jobs)
    rows, own = fitted_rows(expected, texts), fitted_rows(found, texts)
    assert (rows is None) == (own is None)
    if rows is None or own is None:
        return
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    assert_same_rows(own, rows)
    assert_same_rows(found.transform(others), expected.transform(others))
    assert found.vocabulary_ == expected.vocabulary_
    if weight.get("use_idf", True):
        np.testing.assert_allclose(found.idf_, expected.idf_, rtol=1e-14)
    again = TextVectorizer(**parameters).fit(texts)
    assert (again.transform(texts) != own).nnz == 0


@pytest.mark.parametrize(
    ("lowercase", "strip_accents"), [(True, None), (True, "unicode"), (False, "unicode"), (False, "ascii")]
)
def test_every_letter(lowercase: bool, strip_accents: str | None) -> None:
    """What every character of the first planes becomes, and whether it is a letter or a space."""
    codes = range(0x1F000)
    texts = ["".join(f"a{chr(c)}b" for c in codes[first : first + 500]) for first in codes[::500]]
    parameters = {"lowercase": lowercase, "strip_accents": strip_accents, "norm": None}
    expected, found = peer(**parameters), TextVectorizer(**parameters, n_jobs=2)
    assert_same_rows(found.fit_transform(texts), expected.fit_transform(texts))
    assert (found.get_feature_names_out() == expected.get_feature_names_out()).all()

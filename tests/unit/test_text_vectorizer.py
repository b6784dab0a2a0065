"""TextVectorizer, against scikit-learn's vectorizers."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Normalizer
from tests.texts import (
    analyses,
    analyzers,
    any_text,
    encodable,
    ngram_ranges,
    random_texts,
    sea_texts,
    stop_words,
)

from labeltree import LabelTreeClassifier
from labeltree.text import TextVectorizer

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:most of these texts")]

texts_of = st.lists(st.one_of(sea_texts, any_text), min_size=1, max_size=8)
encodable_texts = st.lists(st.one_of(sea_texts, encodable), max_size=8)
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


@settings(max_examples=150)
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
    expected, found = TfidfVectorizer(**parameters), TextVectorizer(**parameters, n_jobs=jobs)
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
    expected, found = TfidfVectorizer(**parameters), TextVectorizer(**parameters, n_jobs=2)
    assert_same_rows(found.fit_transform(texts), expected.fit_transform(texts))
    assert (found.get_feature_names_out() == expected.get_feature_names_out()).all()


@given(
    encodable_texts,
    analyzers,
    analyses,
    st.integers(1, 50),
    st.booleans(),
    st.sampled_from(["l1", "l2", None]),
    st.booleans(),
)
def test_hashing_like_scikit_learn(
    texts: list[str],
    analyzer: dict[str, Any],
    analysis: dict[str, Any],
    n_features: int,
    binary: bool,
    norm: str | None,
    use_idf: bool,
) -> None:
    parameters = {**analyzer, **analysis, "n_features": n_features, "binary": binary}
    found = TextVectorizer(**parameters, norm=norm, use_idf=use_idf)
    expected = HashingVectorizer(**parameters, norm=None if use_idf else norm)
    if use_idf:
        expected = make_pipeline(expected, TfidfTransformer(norm=norm))
        if not texts:
            return  # scikit-learn's weights need a text
        found.fit(texts[1:] or texts)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
            expected.fit(texts[1:] or texts)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
        rows = expected.transform(texts) if texts else sp.csr_matrix((0, n_features))
    assert_same_rows(found.transform(texts), rows)
    assert (found.fit_transform(texts) != clone(found).fit(texts).transform(texts)).nnz == 0


def test_hashes_of_many_lengths_and_columns() -> None:
    texts = ["é" * n + "x" * m for n in range(6) for m in range(6) if n + m > 1]
    for n_features in (1, 3, 2**20, 2**30 - 1):
        found = TextVectorizer(n_features=n_features, use_idf=False).transform(texts)
        assert_same_rows(found, HashingVectorizer(n_features=n_features).transform(texts))


def test_hashed_sublinear_counts_keep_their_sign() -> None:
    """scikit-learn has none of this: its logarithm of a negative count is no number."""
    texts = random_texts(30)
    counts = HashingVectorizer(n_features=50, norm=None).transform(texts)
    found = TextVectorizer(n_features=50, norm=None, use_idf=False, sublinear_tf=True).transform(texts)
    magnitude = np.abs(counts.data)
    assert (counts.data < 0).any()
    assert (counts.data == 0).any()
    counts.data = np.sign(counts.data) * (np.log(np.maximum(magnitude, 1)) + 1)
    assert_same_rows(found, counts)


@given(
    texts_of,
    texts_of,
    ngram_ranges,
    ngram_ranges,
    stop_words,
    st.booleans(),
    st.one_of(st.just(NO_CHOICE), choices),
    weights,
)
def test_characters_beside_words(
    texts: list[str],
    others: list[str],
    ngram_range: tuple[int, int],
    char_ngram_range: tuple[int, int],
    stop_words: Any,
    lowercase: bool,
    choice: dict[str, Any],
    weight: dict[str, Any],
) -> None:
    """A union of two of scikit-learn's without norm, and the norm of whole rows."""
    both = {"lowercase": lowercase, **choice, **weight}
    found = TextVectorizer(
        ngram_range=ngram_range, char_ngram_range=char_ngram_range, stop_words=stop_words, **both
    )
    separate = {**both, "norm": None}
    union = FeatureUnion(
        [
            ("word", TfidfVectorizer(ngram_range=ngram_range, stop_words=stop_words, **separate)),
            ("char", TfidfVectorizer(analyzer="char_wb", ngram_range=char_ngram_range, **separate)),
        ]
    )
    expected = make_pipeline(union, *([Normalizer(both["norm"])] if both["norm"] else []))
    rows, own = fitted_rows(expected, texts), fitted_rows(found, texts)
    assert (rows is None) == (own is None)
    if rows is None or own is None:
        return
    assert_same_rows(own, rows)
    assert_same_rows(found.transform(others), expected.transform(others))
    names = [
        name.removeprefix("word__").replace("char__", "char:", 1) for name in union.get_feature_names_out()
    ]
    assert len(names) == len(set(found.get_feature_names_out()))
    words = len(union["word"].vocabulary_)
    assert list(found.get_feature_names_out()[:words]) == names[:words]
    assert list(found.get_feature_names_out()[words:]) == names[words:]


def test_hashed_characters_beside_words() -> None:
    texts = random_texts(20)
    found = TextVectorizer(n_features=64, use_idf=False, char_ngram_range=(2, 3), norm=None).transform(texts)
    words = HashingVectorizer(n_features=64, norm=None).transform(texts)
    characters = HashingVectorizer(n_features=64, norm=None, analyzer="char_wb", ngram_range=(2, 3))
    assert_same_rows(found, sp.hstack([words, characters.transform(texts)]))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"ngram_range": (1, 2), "min_df": 2},
        {"char_ngram_range": (2, 3), "max_features": 300},
        {"n_features": 1000},
        {"analyzer": "whitespace", "ngram_range": (1, 2), "char_ngram_range": (3, 3), "buckets": 500},
    ],
)
def test_the_number_of_threads_changes_nothing(parameters: dict[str, Any]) -> None:
    texts = random_texts(600)
    first = TextVectorizer(**parameters)
    rows = first.fit_transform(texts)
    for jobs in (2, 5, -1):
        other = TextVectorizer(**parameters, n_jobs=jobs)
        assert (other.fit_transform(texts) != rows).nnz == 0
        assert (other.transform(texts) != rows).nnz == 0
        assert all(np.array_equal(a, b) for a, b in zip(_arrays(other), _arrays(first), strict=True))


def _arrays(vectorizer: TextVectorizer) -> list[np.ndarray[Any, Any]]:
    return list(vectorizer.state()[1].values())


def test_many_threads_share_one_vectorizer() -> None:
    texts = random_texts(400)
    vectorizer = TextVectorizer(char_ngram_range=(2, 2), n_jobs=2).fit(texts)
    parts = [texts[i::8] for i in range(8)]
    expected = [vectorizer.transform(part) for part in parts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for rows, alone in zip(pool.map(vectorizer.transform, parts), expected, strict=True):
                assert (rows != alone).nnz == 0


def test_any_iterable_of_strings() -> None:
    texts = random_texts(50)
    expected = TextVectorizer().fit_transform(texts)

    def generator() -> Iterator[str]:
        yield from texts

    for same in (tuple(texts), generator(), np.array(texts), np.array(texts, dtype=object), pd.Series(texts)):
        assert (TextVectorizer().fit_transform(same) != expected).nnz == 0


def test_an_error_of_the_iterable_comes_through() -> None:
    def texts() -> Iterator[str]:
        yield "sea"
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        TextVectorizer().fit(texts())


def test_texts_without_known_words_are_empty_rows() -> None:
    rows = TextVectorizer().fit(["sea boat"]).transform(["", " ", "a b", "sky", "\0", "the sea"])
    assert np.diff(rows.indptr).tolist() == [0, 0, 0, 0, 0, 1]
    assert TextVectorizer().fit(["sea"]).transform([]).shape == (0, 1)


def test_a_huge_text() -> None:
    text = "sea " * 1_000_000 + "é" * 1_000_000 + " boat"
    found = TextVectorizer(norm=None, use_idf=False)
    assert found.fit_transform([text, "sea"]).toarray().tolist() == [[1, 1_000_000, 1], [0, 1, 0]]


@pytest.mark.parametrize("bad", [None, 3, b"sea", 1.5, ["sea"]])
def test_what_is_no_string_is_named_with_its_row(bad: Any) -> None:
    kind = type(bad).__name__
    with pytest.raises(ValueError, match=f"text 2: expected a string, got {kind}"):
        TextVectorizer().fit(["sea", "boat", bad])
    with pytest.raises(ValueError, match=f"text 70000: expected a string, got {kind}"):
        TextVectorizer().fit(["sea"]).transform(["sea"] * 70_000 + [bad])


@pytest.mark.parametrize("text", ["sea", b"sea"])
def test_a_single_text_is_not_a_sequence_of_letters(text: Any) -> None:
    with pytest.raises(ValueError, match="put it into a list"):
        TextVectorizer().fit(text)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"analyzer": "words"}, "'analyzer' must be one of 'word', 'whitespace', 'char', 'char_wb'"),
        ({"ngram_range": (2, 1)}, "'ngram_range' must be a pair of integers"),
        ({"ngram_range": (0, 1)}, "'ngram_range' must be a pair of integers"),
        ({"ngram_range": 2}, "'ngram_range' must be a pair of integers"),
        ({"char_ngram_range": (1.0, 2)}, "'char_ngram_range' must be a pair of integers"),
        ({"strip_accents": "latin"}, "'strip_accents' must be"),
        (
            {"stop_words": "klingon"},
            "'stop_words' must be 'english', a collection of strings, or one of arabic",
        ),
        ({"stop_words": ["sea", 3]}, "'stop_words' must be 'english', a collection"),
        ({"min_df": 0}, "'min_df' must be an integer of at least 1"),
        ({"max_df": 1.5}, "'max_df' must be an integer of at least 1"),
        ({"max_df": True}, "'max_df' must be an integer of at least 1"),
        ({"max_features": 0}, "'max_features' must be an integer of at least 1"),
        ({"norm": "max"}, "'norm' must be"),
        ({"use_idf": 1}, "'use_idf' must be True or False"),
        ({"n_features": 2**30}, "'n_features' must be"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"n_jobs": "all"}, "'n_jobs' must be an integer"),
        ({"analyzer": "char", "stop_words": "english"}, "stop_words works only with analyzer='word'"),
        (
            {"analyzer": "char", "char_ngram_range": (1, 2)},
            "char_ngram_range works only with analyzer='word' or analyzer='whitespace', got analyzer='char'",
        ),
        (
            {"analyzer": "whitespace", "tokenizer": "tests.tokenizers:pairs"},
            "tokenizer works only with analyzer='word', got analyzer='whitespace'",
        ),
        ({"n_features": 8, "min_df": 2}, "choose terms of a vocabulary"),
        ({"n_features": 8, "max_df": 1}, "choose terms of a vocabulary"),
        ({"n_features": 8, "max_features": 2}, "choose terms of a vocabulary"),
        ({"n_features": 8, "smooth_idf": False}, "smooth_idf=False with n_features"),
        ({"min_df": 3, "max_df": 2}, "max_df=2 allows 2 texts, fewer than the 3 of min_df=3"),
        ({"min_df": 2}, "no terms are left of 2 texts"),
        ({"stop_words": ["sea", "boat"]}, "no terms are left of 2 texts"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextVectorizer(**parameters).fit(["sea", "boat"])


def test_only_hashing_without_idf_works_unfitted() -> None:
    assert TextVectorizer(n_features=8, use_idf=False).transform(["sea"]).nnz == 1
    for unfitted in (TextVectorizer(), TextVectorizer(n_features=8)):
        with pytest.raises(NotFittedError):
            unfitted.transform(["sea"])
        with pytest.raises(NotFittedError):
            unfitted.get_feature_names_out()


def test_names_of_hashed_columns() -> None:
    found = TextVectorizer(n_features=2, use_idf=False)
    assert list(found.get_feature_names_out()) == ["textvectorizer0", "textvectorizer1"]
    with pytest.raises(AttributeError, match="no vocabulary"):
        _ = found.vocabulary_


def test_clone_and_pickle() -> None:
    texts = random_texts(30)
    fitted = TextVectorizer(stop_words=["w1"], char_ngram_range=(2, 3), n_jobs=2)
    rows = fitted.fit_transform(texts)
    assert clone(fitted).get_params() == fitted.get_params()
    assert (clone(fitted).fit(texts).transform(texts) != rows).nnz == 0
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.transform(texts) != rows).nnz == 0
    assert again.get_params() == fitted.get_params()


def test_what_was_fitted_stays_until_the_next_fit() -> None:
    texts = random_texts(30)
    fitted = TextVectorizer()
    rows = fitted.fit_transform(texts)
    fitted.set_params(norm=None, lowercase=False, n_jobs=3)
    assert (fitted.transform(texts) != rows).nnz == 0
    assert fitted.state()[0]["norm"] == "l2"


def test_in_a_pipeline_with_a_classifier() -> None:
    texts = ["the sea", "a boat at sea", "an old tree", "old trees"] * 5
    tagger = make_pipeline(TextVectorizer(), LabelTreeClassifier(random_state=0))
    tagger.fit(texts, [["water"], ["water"], ["plants"], ["plants"]] * 5)
    assert [list(labels) for labels in tagger.predict(["sea", "tree"])] == [["water"], ["plants"]]

"""Buckets: single words have a vocabulary, longer terms are hashed. Against a twin in plain Python."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from tests.labelled_texts import labelled_texts
from tests.reference.text_buckets import BucketTwin
from tests.texts import any_text, random_texts, sea_texts

from labeltree import FastXMLClassifier, LabelTreeClassifier, OneVsRestClassifier
from labeltree.errors import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.text import Tagger, TextVectorizer

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:most of these texts")]

FIELDS = {"title": 2.0, "text": 0.3}
stem = snowballstemmer.stemmer("english").stemWord

one_text = st.one_of(sea_texts, any_text)
mappings = st.fixed_dictionaries({"title": one_text}, optional={"text": st.none() | one_text})
texts_of = st.lists(one_text, min_size=1, max_size=8)
rows_of = st.lists(st.one_of(mappings, one_text), min_size=1, max_size=6)
#: What goes into the buckets.
longer = st.one_of(
    st.fixed_dictionaries({"ngram_range": st.sampled_from([(1, 2), (1, 4)])}),
    st.fixed_dictionaries({"char_ngram_range": st.sampled_from([(1, 1), (2, 4)])}),
    st.just({"ngram_range": (1, 3), "char_ngram_range": (3, 3)}),
)
same_for_both = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "whitespace"]),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
        "min_df": st.sampled_from([1, 2]),
        "max_features": st.sampled_from([None, 3]),
        "binary": st.booleans(),
        "use_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
        "norm": st.sampled_from(["l1", "l2", None]),
    }
)
BOTH: dict[str, Any] = {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "buckets": 50}


def assert_like_the_twin(
    found: TextVectorizer, twin: BucketTwin, texts: list[Any], others: list[Any]
) -> None:
    try:
        rows = found.fit_transform(texts)
    except ValueError:
        assert twin.words == []
        return
    np.testing.assert_allclose(rows.toarray(), twin.rows(texts), rtol=2e-6, atol=1e-7)
    np.testing.assert_allclose(found.transform(others).toarray(), twin.rows(others), rtol=2e-6, atol=1e-7)
    names = [*twin.words, *(f"bucket:{i}" for i in range(twin.buckets))]
    assert list(found.get_feature_names_out()) == names
    assert found.vocabulary_ == {word: column for column, word in enumerate(twin.words)}
    if found.use_idf:
        np.testing.assert_allclose(found.idf_, twin.idf, rtol=1e-14)
    assert (clone(found).fit(texts).transform(texts) != rows).nnz == 0
    rows.check_format()
    assert rows.has_canonical_format


@settings(max_examples=150)
@given(
    texts_of,
    texts_of,
    st.integers(1, 40),
    longer,
    same_for_both,
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
)
def test_like_the_twin(
    texts: list[str],
    others: list[str],
    buckets: int,
    terms: dict[str, Any],
    parameters: dict[str, Any],
    stops: bool,
    stems: bool,
    jobs: int,
) -> None:
    twin = BucketTwin(
        texts,
        buckets,
        **terms,
        **parameters,
        stop_words=ENGLISH_STOP_WORDS if stops else frozenset(),
        stem=stem if stems else str,
    )
    found = TextVectorizer(
        buckets=buckets,
        **terms,
        **parameters,
        stop_words="english" if stops else None,
        stemmer="english" if stems else None,
        n_jobs=jobs,
    )
    assert_like_the_twin(found, twin, texts, others)


@given(rows_of, rows_of, longer, same_for_both)
def test_fields_like_the_twin(
    rows: list[Any], others: list[Any], terms: dict[str, Any], parameters: dict[str, Any]
) -> None:
    twin = BucketTwin(rows, 20, **terms, **parameters, fields=FIELDS)
    assert_like_the_twin(TextVectorizer(buckets=20, **terms, **parameters, fields=FIELDS), twin, rows, others)


def test_a_tokenizer() -> None:
    texts = random_texts(10)
    own = TextVectorizer(tokenizer="tests.tokenizers:split_at_spaces", ngram_range=(1, 3), buckets=40)
    twin = BucketTwin(texts, 40, analyzer="whitespace", ngram_range=(1, 3))
    assert_like_the_twin(own, twin, texts, ["w1 w2 unknown w3 \t w1", ""])


def test_n_grams_of_words_and_of_characters_share_the_buckets() -> None:
    """They add up before the logarithm, and a text with both counts once for idf."""
    parameters: dict[str, Any] = {
        "buckets": 1,
        "ngram_range": (1, 2),
        "char_ngram_range": (5, 5),
        "norm": None,
    }
    found = TextVectorizer(**parameters, sublinear_tf=True).fit(["old sea", "sky"])
    assert found.idf_ is not None
    assert found.idf_[-1] == 1
    # A pair of words, and two words with their spaces.
    assert found.transform(["old sea"])[0, -1] == pytest.approx(np.log(3) + 1)
    ones = TextVectorizer(**parameters, use_idf=False, binary=True).fit(["old sea", "sky"])
    assert ones.transform(["old sea old sea"]).toarray().tolist() == [[1, 1, 0, 1]]


def test_counts_are_never_negative() -> None:
    rows = TextVectorizer(**BOTH, use_idf=False).fit_transform(random_texts(30))
    assert rows.data.min() > 0
    signed = TextVectorizer(**{**BOTH, "buckets": None, "n_features": 50}, use_idf=False)
    assert signed.transform(random_texts(30)).data.min() < 0


def test_many_threads_and_batches() -> None:
    texts = random_texts(3000)
    one = TextVectorizer(**BOTH, min_df=3)
    rows = one.fit_transform(texts)
    for jobs in (2, 4):
        other = TextVectorizer(**BOTH, min_df=3, n_jobs=jobs)
        assert (other.fit_transform(iter(texts)) != rows).nnz == 0
        assert (other.transform(texts) != rows).nnz == 0
        np.testing.assert_array_equal(other.idf_, one.idf_)


# -- places -----------------------------------------------------------------------------------------------------------


def test_places_of_words_and_buckets() -> None:
    found = TextVectorizer(ngram_range=(1, 2), char_ngram_range=(4, 4), buckets=1000).fit(["old sea"])
    twin = BucketTwin(["old sea"], 1000)
    text = "An OLD, Sea"
    column = {
        name: 2 + twin.bucket(name)
        for name in ("an old", "old sea", " an ", " old", "old,", "ld, ", " sea", "sea ")
    }
    expected = [
        (column[" an "], 0, 2),
        (column["an old"], 0, 6),
        (column[" old"], 3, 6),
        (0, 3, 6),
        (column["old,"], 3, 7),
        (column["ld, "], 4, 7),
        (column["old sea"], 3, 11),
        (column[" sea"], 8, 11),
        (column["sea "], 8, 11),
        (1, 8, 11),
    ]
    assert sorted(found.spans(text)) == sorted(expected)
    assert set(found.transform([text]).indices) == {column for column, _, _ in expected}


@given(any_text, longer, st.sampled_from(["word", "whitespace"]))
def test_a_place_for_every_term(text: str, terms: dict[str, Any], analyzer: str) -> None:
    found = TextVectorizer(**terms, buckets=30, analyzer=analyzer, use_idf=False, norm=None).fit(
        ["sea", text]
    )
    row = found.transform([text]).toarray()[0]
    counts = np.bincount([column for column, _, _ in found.spans(text)], minlength=len(row))
    assert (counts <= row).all()  # the space before a word stands for no character
    if "char_ngram_range" not in terms:
        assert (counts == row).all()


def test_highlights_of_n_grams() -> None:
    """Only the order of words tells the labels apart, so that only pairs of words are evidence."""
    texts = ["red boat blue sky", "blue boat red sky"] * 10
    labels = [["boat is red"], ["boat is blue"]] * 10
    vectorizer = TextVectorizer(ngram_range=(1, 2), buckets=2**16)
    tagger = Tagger(LabelTreeClassifier(C=10.0, random_state=0), vectorizer).fit(texts, labels)
    explanation = tagger.explain("a red boat", "boat is red")
    best = max(explanation.highlights, key=lambda highlight: highlight.amount)
    assert "a red boat"[best.begin : best.end] == "red boat"
    assert any(
        one.feature == "red boat" for path in explanation.paths for step in path for one in step.contributions
    )


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"buckets": 0}, "'buckets' must be an integer of at least 1"),
        ({"buckets": 2**30}, "'buckets' must be"),
        ({"buckets": 2.5}, "'buckets' must be"),
        ({"buckets": True}, "'buckets' must be"),
        ({"n_features": 8}, "got n_features=8 and buckets=50: leave one of them at None"),
        (
            {"analyzer": "char"},
            "works only with analyzer='word' or analyzer='whitespace', got analyzer='char'",
        ),
        (
            {"analyzer": "char_wb", "char_ngram_range": None},
            "buckets works only with analyzer='word' or analyzer='whitespace', got analyzer='char_wb'",
        ),
        ({"ngram_range": (2, 3)}, r"must start at 1, got \(2, 3\): use \(1, 3\), or n_features"),
        (
            {"ngram_range": (1, 1), "char_ngram_range": None},
            r"ngram_range is \(1, 1\) and char_ngram_range is None: use ngram_range=\(1, 2\)",
        ),
        ({"smooth_idf": False}, "smooth_idf=False with buckets would give an infinite weight"),
        ({"min_df": 2}, "no terms are left of 2 texts"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextVectorizer(**{**BOTH, **parameters}).fit(["sea", "boat"])


def test_other_parameters_are_allowed() -> None:
    TextVectorizer(**BOTH, smooth_idf=False, use_idf=False).fit(["sea"])
    assert TextVectorizer(**{**BOTH, "buckets": np.int64(7)}).fit(["sea"]).n_features_out == 8


# -- storage ----------------------------------------------------------------------------------------------------------


def test_pickle() -> None:
    texts = random_texts(30)
    fitted = TextVectorizer(**BOTH, stop_words=["w1"])
    rows = fitted.fit_transform(texts)
    assert (pickle.loads(pickle.dumps(fitted)).transform(texts) != rows).nnz == 0


def test_only_vectorizers_with_buckets_are_stored_with_them() -> None:
    settings, arrays = TextVectorizer(**BOTH).fit(["the sea"]).state()
    assert settings["buckets"] == 50
    assert sorted(arrays) == ["idf", "text", "text_begin"]
    assert len(arrays["idf"]) == 52
    assert "buckets" not in TextVectorizer(ngram_range=(1, 2)).fit(["the sea"]).state()[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"idf": np.ones(2)}, "expected 52 numbers of idf"),
        ({"idf": np.ones(51)}, "expected 52 numbers of idf"),
        ({"idf": np.r_[np.ones(51), np.nan]}, "finite and above 0"),
        ({"char_text": np.zeros(1, dtype=np.uint8)}, "expected the arrays"),
        ({"text_begin": np.zeros(0, dtype=np.int64)}, "do not span"),
        ({"text_begin": np.array([0, 6])}, "expected 51 numbers of idf"),
    ],
)
def test_hostile_arrays(change: dict[str, Any], message: str) -> None:
    settings, arrays = TextVectorizer(**BOTH).fit(["the sea"]).state()
    with pytest.raises(ValueError, match=message):
        TextVectorizer.from_state(settings, {**arrays, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"buckets": 51}, "expected 53 numbers of idf"),
        ({"buckets": 2**30 - 1}, "expected 1073741825 numbers of idf"),
        ({"buckets": -1}, "'buckets' must be"),
        ({"buckets": [50]}, "'buckets' must be"),
        ({"buckets": None}, "expected the arrays"),
        ({"n_features": 50}, "leave one of them at None"),
        ({"analyzer": "char"}, "got analyzer='char'"),
    ],
)
def test_hostile_settings(change: dict[str, Any], message: str) -> None:
    settings, arrays = TextVectorizer(**BOTH).fit(["the sea"]).state()
    with pytest.raises(ValueError, match=message):
        TextVectorizer.from_state({**settings, **change}, arrays)


@pytest.mark.parametrize(
    "classifier", [OneVsRestClassifier(random_state=0), FastXMLClassifier(random_state=0)]
)
@pytest.mark.parametrize(
    ("parameters", "version"),
    [(BOTH, 9), ({"analyzer": "whitespace"}, 9), ({"ngram_range": (1, 2)}, 6)],
    ids=["buckets", "whitespace", "neither"],
)
def test_a_tagger_comes_back(
    classifier: Any, parameters: dict[str, Any], version: int, tmp_path: Path
) -> None:
    texts, labels = labelled_texts(40)
    tagger = Tagger(classifier, TextVectorizer(**parameters)).fit(texts, labels)
    tagger.save(tmp_path / "model")
    if isinstance(classifier, OneVsRestClassifier):
        version = 13  # packed features are newer than texts
    elif version == 6:
        version = 5  # trees over examples are older than texts
    assert read_info(tmp_path / "model").format_version == version
    again = Tagger.load(tmp_path / "model", verify=True)
    assert again.vectorizer_.get_params() == tagger.vectorizer_.get_params()
    assert again.predict_topk(texts, 2).labels.tolist() == tagger.predict_topk(texts, 2).labels.tolist()
    assert again.explain(texts[0], labels[0][0]) == tagger.explain(texts[0], labels[0][0])
    loaded: Any = load(tmp_path / "model")
    assert (loaded.model_.text_rows(texts) != tagger.vectorizer_.transform(texts)).nnz == 0


def _of_an_older_version(document: dict[str, Any]) -> None:
    document["format_version"] = 8


def _with_other_buckets(document: dict[str, Any]) -> None:
    document["text"]["settings"]["buckets"] = 49


def _without_buckets(document: dict[str, Any]) -> None:
    del document["text"]["settings"]["buckets"]


@pytest.mark.parametrize(
    ("edit", "use_idf", "message"),
    [
        (_of_an_older_version, True, "says format version 8, but its sections are those of version 13"),
        (_with_other_buckets, True, "numbers of idf"),
        (_with_other_buckets, False, r"model.json says \d+ features, but texts have"),
        (_without_buckets, True, "expected the arrays|its sections are those of version"),
    ],
)
def test_hostile_models(
    edit: Callable[[dict[str, Any]], None], use_idf: bool, message: str, tmp_path: Path
) -> None:
    vectorizer = TextVectorizer(**BOTH, use_idf=use_idf)
    Tagger(OneVsRestClassifier(random_state=0), vectorizer).fit(["sea", "sky"], [["a"], ["b"]]).save(tmp_path)
    document = json.loads((tmp_path / "model.json").read_text())
    edit(document)
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path)

"""Texts of several fields with weights, against scikit-learn: one count matrix for each field, summed."""

from __future__ import annotations

import warnings
from collections import UserDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from tests.texts import analyses, analyzers, any_text, encodable, sea_texts

import labeltree
from labeltree import FastXMLClassifier, LabelTreeClassifier
from labeltree.model_file import load, read_info
from labeltree.text import Highlight, Tagger, TextVectorizer

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:most of these texts")]

FIELDS = {"title": 2.0, "text": 0.3}
ROWS = [
    {"title": "A boat", "text": "the boat at sea"},
    {"title": "Sea", "text": None},
    {"text": "cats and the cat", "year": 1999},
    "an old cat",
]
LABELS = [["boat", "sea"], ["sea"], ["cat"], ["cat"]]

one_text = st.one_of(sea_texts, any_text)
mappings = st.fixed_dictionaries({}, optional={name: st.none() | one_text for name in FIELDS}).filter(bool)
rows_of = st.lists(st.one_of(mappings, one_text), min_size=1, max_size=6)
weights = st.sampled_from([0.3, 0.5, 1.0, 2.0, 7.1])


def pieces(rows: list[Any], field: str | None) -> list[str]:
    """The texts of one field, or the rows that are strings."""
    if field is None:
        return [row if isinstance(row, str) else "" for row in rows]
    return ["" if isinstance(row, str) else row.get(field) or "" for row in rows]


def weighted_sum(count: Any, rows: list[Any], fields: dict[str, float]) -> sp.csr_matrix:
    parts = [weight * count(pieces(rows, field)) for field, weight in {None: 1.0, **fields}.items()]
    return sp.csr_matrix(sum(parts[1:], start=parts[0]))


def assert_same(found: sp.csr_matrix, expected: Any) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=2e-6, atol=1e-6)


@settings(max_examples=100)
@given(
    rows_of,
    rows_of,
    st.fixed_dictionaries({"title": weights, "text": weights}),
    analyzers,
    analyses,
    st.booleans(),
    st.sampled_from([1, 2]),
    st.sampled_from([None, 3]),
    st.sampled_from(["l1", "l2", None]),
    st.integers(1, 3),
)
def test_like_scikit_learn(
    rows: list[Any],
    others: list[Any],
    fields: dict[str, float],
    analyzer: dict[str, Any],
    analysis: dict[str, Any],
    binary: bool,
    min_df: int,
    max_features: int | None,
    norm: str | None,
    jobs: int,
) -> None:
    parameters = {**analyzer, **analysis, "binary": binary}
    found = TextVectorizer(
        **parameters, fields=fields, min_df=min_df, max_features=max_features, norm=norm, n_jobs=jobs
    )
    everything = [piece for field in (None, *fields) for piece in pieces(rows, field)]
    try:
        own = found.fit_transform(rows)
    except ValueError:
        own = None
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
        try:
            all_terms = CountVectorizer(**parameters).fit(everything).vocabulary_
        except ValueError:
            assert own is None
            return
        count = CountVectorizer(**{**parameters, "binary": False}, vocabulary=all_terms).transform
        times = weighted_sum(count, rows, dict.fromkeys(fields, 1.0))
        n_texts = np.asarray((times > 0).sum(axis=0)).ravel()
        kept = np.flatnonzero(n_texts >= min_df)
        if max_features is not None and len(kept) > max_features:
            frequency = n_texts if binary else np.asarray(times.sum(axis=0)).ravel()
            kept = np.sort(kept[(-frequency[kept].astype(np.float64)).argsort()[:max_features]])
        if len(kept) == 0:
            assert own is None
            return
        names = np.array(sorted(all_terms), dtype=object)[kept]
        assert own is not None
        assert list(found.get_feature_names_out()) == list(names)
        count = CountVectorizer(**parameters, vocabulary=list(names)).transform
        tfidf = TfidfTransformer(norm=norm).fit(weighted_sum(count, rows, fields))
        assert_same(own, tfidf.transform(weighted_sum(count, rows, fields)))
        assert_same(found.transform(others), tfidf.transform(weighted_sum(count, others, fields)))
    assert (found.fit(rows).transform(rows) != own).nnz == 0


@given(
    st.lists(st.one_of(st.fixed_dictionaries({"title": encodable, "text": encodable}), encodable), min_size=1)
)
def test_hashing_like_scikit_learn(rows: list[Any]) -> None:
    found = TextVectorizer(fields=FIELDS, n_features=16, use_idf=False, norm=None).transform(rows)
    assert_same(found, weighted_sum(HashingVectorizer(n_features=16, norm=None).transform, rows, FIELDS))


def test_the_logarithm_of_weighted_counts() -> None:
    rows = [{"title": "sea", "text": "sea boat"}, {"text": "sea sea sea sea sea"}]
    plain = TextVectorizer(fields=FIELDS, norm=None, use_idf=False)
    np.testing.assert_allclose(plain.fit_transform(rows).toarray(), [[0.3, 2.3], [0, 1.5]], rtol=1e-6)
    sublinear = TextVectorizer(fields=FIELDS, norm=None, use_idf=False, sublinear_tf=True)
    expected = [[0.3, np.log(2.3) + 1], [0, np.log(1.5) + 1]]
    np.testing.assert_allclose(sublinear.fit_transform(rows).toarray(), expected, rtol=1e-6)


def test_characters_beside_words_have_the_weights_too() -> None:
    vectorizer = TextVectorizer(fields=FIELDS, char_ngram_range=(3, 3), norm=None, use_idf=False)
    rows = vectorizer.fit_transform([{"title": "sea", "text": "sea"}]).toarray()
    np.testing.assert_allclose(rows, [[2.3] * 4], rtol=1e-6)


def test_strings_are_as_without_fields() -> None:
    texts = ["the sea", "a boat at sea", ""]
    found = TextVectorizer(fields=FIELDS).fit_transform(texts)
    assert (found != TextVectorizer().fit_transform(texts)).nnz == 0


def test_other_mappings_than_dicts() -> None:
    found = TextVectorizer(fields=FIELDS).fit(ROWS)
    mapping = UserDict(ROWS[0])  # type: ignore[arg-type]
    assert (found.transform([mapping]) != found.transform(ROWS[:1])).nnz == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, "text 1: expected at least one of the fields 'title', 'text', got none"),
        ({"Title": "sea"}, "text 1: expected at least one of the fields 'title', 'text', got none"),
        ({"title": 3}, "text 1, field 'title': expected a string or None, got int"),
        (None, "text 1: expected a string or a mapping of fields to strings, got NoneType"),
        (["sea"], "text 1: expected a string or a mapping of fields to strings, got list"),
    ],
)
def test_wrong_rows(row: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextVectorizer(fields=FIELDS).fit([{"title": "sea"}, row])


def test_mappings_need_fields() -> None:
    with pytest.raises(
        ValueError, match=r"text 0: expected a string, got dict: only a vectorizer with fields"
    ):
        TextVectorizer().fit([{"title": "sea"}])
    with pytest.raises(ValueError, match="put it into a list"):
        TextVectorizer(fields=FIELDS).fit({"title": "sea"})
    with pytest.raises(ValueError, match="expected a string, got dict"):
        TextVectorizer().fit(["sea"]).spans({"title": "sea"})


@pytest.mark.parametrize(
    "fields",
    [{}, {"title": 0.0}, {"title": -1}, {"title": "2"}, {1: 2.0}, ["title"], {"\ud800": 1.0}, {"t": np.nan}],
)
def test_wrong_fields(fields: Any) -> None:
    with pytest.raises(
        ValueError, match="'fields' must be a mapping of one or more names of fields to weights"
    ):
        TextVectorizer(fields=fields).fit(["sea"])


def test_places_in_fields() -> None:
    vectorizer = TextVectorizer(fields=FIELDS).fit(["boat sea"])
    assert vectorizer.spans({"text": "at SEA", "title": "Boat"}) == {
        "title": [(0, 0, 4)],
        "text": [(1, 3, 6)],
    }
    assert vectorizer.spans({"text": None}) == {}
    assert vectorizer.spans("a boat") == [(0, 2, 6)]


@pytest.mark.parametrize(
    "classifier", [LabelTreeClassifier(random_state=0), FastXMLClassifier(random_state=0)]
)
def test_a_tagger_comes_back(classifier: Any, tmp_path: Path) -> None:
    tagger = Tagger(classifier, TextVectorizer(fields=FIELDS)).fit(ROWS, LABELS)
    tagger.save(tmp_path / "model")
    version = 8 if isinstance(classifier, FastXMLClassifier) else 13
    assert read_info(tmp_path / "model").format_version == version
    again = Tagger.load(tmp_path / "model")
    assert again.vectorizer_.fields == FIELDS
    assert again.predict_topk(ROWS, 2).labels.tolist() == tagger.predict_topk(ROWS, 2).labels.tolist()
    assert [tag.label for tag in again.tag({"title": "cat"}, k=1)] == ["cat"]
    loaded = load(tmp_path / "model")
    assert loaded.model_.text_fields == ("title", "text")
    assert loaded.model_.text_rows(ROWS).shape[0] == len(ROWS)


def test_a_mix_of_models_with_fields(tmp_path: Path) -> None:
    taggers = [
        Tagger(LabelTreeClassifier(random_state=seed), TextVectorizer(fields=FIELDS)).fit(ROWS, LABELS)
        for seed in range(2)
    ]
    labeltree.mix([tagger.classifier_ for tagger in taggers]).save(tmp_path / "mix")
    assert read_info(tmp_path / "mix").format_version == 13
    mixed = load(tmp_path / "mix")
    assert mixed.model_.text_fields == ("title", "text")
    rows = mixed.model_.text_rows(ROWS)
    assert mixed.predict_topk(rows, 1).labels[1:].tolist() == [["sea"], ["cat"], ["cat"]]


def test_highlights_are_in_fields() -> None:
    tagger = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(fields=FIELDS)).fit(ROWS, LABELS)
    row = {"text": "an old Cat", "title": "A cat"}
    highlights = tagger.explain(row, "cat").highlights
    places = [(found.field, row[found.field or ""][found.begin : found.end]) for found in highlights]
    assert places == [("title", "cat"), ("text", "an"), ("text", "old"), ("text", "Cat")]
    assert all(found.field is None for found in tagger.explain("an old cat", "cat").highlights)
    assert Highlight(0, 1, 0.5).field is None

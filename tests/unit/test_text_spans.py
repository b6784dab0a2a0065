"""Where features are in a text, against a twin that goes character by character."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from tests.reference.text_terms import term_places
from tests.texts import analyses, analyzers, any_text, stop_words

from labeltree.text import TextVectorizer

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:most of these texts")]

whitespace = st.fixed_dictionaries({"analyzer": st.just("whitespace"), "stop_words": stop_words})


@given(any_text, st.one_of(analyzers, whitespace), analyses)
def test_like_the_twin(text: str, analyzer: dict[str, Any], analysis: dict[str, Any]) -> None:
    parameters = {**analyzer, **analysis}
    words = parameters.pop("stop_words", None)
    stop_words = ENGLISH_STOP_WORDS if words == "english" else frozenset(words or ())
    places = term_places(text, **parameters, stop_words=stop_words)
    vectorizer = TextVectorizer(**parameters, stop_words=words, use_idf=False, norm=None)
    try:
        row = vectorizer.fit_transform([text])
    except ValueError:
        assert places == []
        return
    columns = vectorizer.vocabulary_
    expected = [(columns[term], begin, end) for term, begin, end in places]
    spans = vectorizer.spans(text)
    assert sorted(spans) == sorted(expected)
    assert spans == sorted(spans, key=lambda span: (span[1], span[2], span[0]))
    if parameters["analyzer"] in ("word", "whitespace"):
        assert Counter(column for column, _, _ in spans) == dict(zip(row.indices, row.data, strict=True))


def test_offsets_are_those_of_the_original() -> None:
    vectorizer = TextVectorizer(strip_accents="unicode").fit(["istanbul ete ffi ΟΔΟΣ"])
    text = "\U0001f600 İSTANBUL, \u00c9T\u00c9 ete\u0301! \ufb03 ΟΔΟΣ"
    names = vectorizer.get_feature_names_out()
    found = [(names[column], text[begin:end]) for column, begin, end in vectorizer.spans(text)]
    assert found == [
        ("istanbul", "İSTANBUL"),
        ("ete", "\u00c9T\u00c9"),
        ("ete", "ete\u0301"),
        ("ffi", "\ufb03"),
        ("\u03bf\u03b4\u03bf\u03c2", "ΟΔΟΣ"),
    ]


def test_words_and_characters_beside_them() -> None:
    vectorizer = TextVectorizer(char_ngram_range=(3, 3)).fit(["sea"])
    assert list(vectorizer.get_feature_names_out()) == ["sea", "char: se", "char:ea ", "char:sea"]
    assert vectorizer.spans("a  Seal sea") == [
        (1, 3, 5),
        (3, 3, 6),
        (1, 8, 10),
        (0, 8, 11),
        (3, 8, 11),
        (2, 9, 11),
    ]


def test_hashed_columns() -> None:
    vectorizer = TextVectorizer(n_features=16, use_idf=False, norm=None)
    [(column, begin, end)] = vectorizer.spans(" boat")
    assert (begin, end) == (1, 5)
    assert vectorizer.transform(["boat"]).indices == [column]


def test_a_text_is_a_string() -> None:
    with pytest.raises(ValueError, match="expected a string, got list"):
        TextVectorizer().fit(["sea"]).spans(["sea"])  # type: ignore[arg-type]

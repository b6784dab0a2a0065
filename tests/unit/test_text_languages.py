"""Stop words and stems of languages, against scikit-learn with a tokenizer that stems."""

from __future__ import annotations

import re
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import snowballstemmer
import stop_words
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from tests.texts import any_text, encodable, ngram_ranges, sea_texts
from tests.unit.test_text_vectorizer import assert_same_rows, fitted_rows

from labeltree import LabelTreeClassifier
from labeltree.errors import ModelFileError
from labeltree.model_file import read_info
from labeltree.text import Tagger, TextVectorizer, languages

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore:most of these texts")]

german_texts = st.lists(
    st.sampled_from(["Häuser", "Haus", "HÄUSERN", "die", "Bäume", "Baum", "und", "straße", "x", ","]),
    max_size=12,
).map(" ".join)
one_text = st.one_of(german_texts, sea_texts, any_text)
texts_of = st.lists(one_text, min_size=1, max_size=8)


def stemming_tokenizer(language: str, stopped: frozenset[str] = frozenset()) -> Any:
    stemmer = snowballstemmer.stemmer(language)

    def tokenize(text: str) -> list[str]:
        words = [word for word in re.findall(r"\b\w\w+\b", text) if word not in stopped]
        return [stem for stem in map(stemmer.stemWord, words) if stem]

    return tokenize


def twin(kind: Any, language: str, stopped: frozenset[str], **parameters: Any) -> Any:
    return kind(tokenizer=stemming_tokenizer(language, stopped), token_pattern=None, **parameters)


@settings(max_examples=80)
@given(
    texts_of,
    texts_of,
    st.sampled_from(["german", "english", "french", "russian", "greek"]),
    st.sampled_from([None, ["sea", "die"]]),
    ngram_ranges,
    st.booleans(),
    st.sampled_from([None, "unicode"]),
    st.sampled_from([1, 2]),
    st.integers(1, 2),
)
def test_stems_like_scikit_learn(
    texts: list[str],
    others: list[str],
    language: str,
    words: list[str] | None,
    ngram_range: tuple[int, int],
    lowercase: bool,
    strip_accents: str | None,
    min_df: int,
    jobs: int,
) -> None:
    parameters: dict[str, Any] = {
        "ngram_range": ngram_range,
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "min_df": min_df,
    }
    expected = twin(TfidfVectorizer, language, frozenset(words or ()), **parameters)
    found = TextVectorizer(**parameters, stemmer=language, stop_words=words, n_jobs=jobs)
    rows, own = fitted_rows(expected, texts), fitted_rows(found, texts)
    assert (rows is None) == (own is None)
    if rows is None or own is None:
        return
    assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
    assert_same_rows(own, rows)
    assert_same_rows(found.transform(others), expected.transform(others))
    stored, arrays = found.state()
    assert (TextVectorizer.from_state(stored, arrays).transform(texts) != own).nnz == 0


@given(st.lists(st.one_of(german_texts, encodable), min_size=1))
def test_hashed_stems_like_scikit_learn(texts: list[str]) -> None:
    found = TextVectorizer(stemmer="german", n_features=32, use_idf=False).transform(texts)
    assert_same_rows(found, twin(HashingVectorizer, "german", frozenset(), n_features=32).transform(texts))


@pytest.mark.parametrize("language", ["german", "french", "finnish"])
def test_stop_words_of_a_language(language: str) -> None:
    listed = stop_words.get_stop_words(language)
    vectorizer = TextVectorizer(stop_words=language).fit([" ".join([*listed, "labeltree"])])
    assert "labeltree" in vectorizer.vocabulary_
    assert not set(vectorizer.vocabulary_) & set(listed)
    assert vectorizer.stop_words == language  # the parameter stays


def test_stop_words_lose_their_accents_with_the_texts() -> None:
    vectorizer = TextVectorizer(stop_words="french", strip_accents="unicode").fit(["même après le bateau"])
    assert list(vectorizer.vocabulary_) == ["bateau"]


def test_a_model_has_its_stop_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["der Baum", "das Haus und der Baum"]
    vectorizer = TextVectorizer(stop_words="german")
    Tagger(LabelTreeClassifier(random_state=0), vectorizer).fit(texts, [["a"], ["b"]]).save(
        tmp_path / "model"
    )
    monkeypatch.setitem(sys.modules, "stop_words", None)  # as if it were not installed
    assert read_info(tmp_path / "model").format_version == 13
    assert list(Tagger.load(tmp_path / "model").vectorizer_.vocabulary_) == ["baum", "haus"]
    with pytest.raises(ValueError, match=r"needs the package stop-words: pip install 'labeltree\[stem\]'"):
        TextVectorizer(stop_words="german").fit(texts)


def test_a_model_names_its_stemmer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["die Häuser", "Bäume und ein Baum"]
    tagger = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(stemmer="german"))
    tagger.fit(texts, [["a"], ["b"]]).save(tmp_path / "model")
    assert read_info(tmp_path / "model").format_version == 13
    again = Tagger.load(tmp_path / "model")
    assert again.vectorizer_.stemmer == "german"
    assert (again.vectorizer_.transform(texts) != tagger.vectorizer_.transform(texts)).nnz == 0
    monkeypatch.setattr("labeltree.text.languages.version", lambda package: "9.9")
    with pytest.warns(UserWarning, match=r"was trained with snowballstemmer .*, but 9.9 is installed"):
        Tagger.load(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(
        ModelFileError, match=r"needs the package snowballstemmer: pip install 'labeltree\[stem\]'"
    ):
        Tagger.load(tmp_path / "model")


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "german",
        {"language": "german"},
        {"language": "german", "package": "os", "version": "1"},
        {"language": "../os", "package": "snowballstemmer", "version": "1"},
        {"language": 3, "package": "snowballstemmer", "version": "1"},
    ],
)
def test_hostile_stemmers(stored: Any) -> None:
    settings, arrays = TextVectorizer(stemmer="german").fit(["haus"]).state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="stemmer"):
            TextVectorizer.from_state({**settings, "stemmer": stored}, arrays)


def test_unknown_languages_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'stemmer' must be None or one of arabic, .*; got 'klingon'"):
        TextVectorizer(stemmer="klingon").fit(["sea"])
    with pytest.raises(ValueError, match="stemmer works only with analyzer='word'"):
        TextVectorizer(stemmer="german", analyzer="char").fit(["sea"])


def test_places_are_those_of_the_original_words() -> None:
    vectorizer = TextVectorizer(stemmer="german", ngram_range=(1, 2), stop_words=["und"]).fit(["Haus Baum"])
    text = "die HÄUSER und Bäume"
    names = vectorizer.get_feature_names_out()
    assert [(names[column], text[begin:end]) for column, begin, end in vectorizer.spans(text)] == [
        ("haus", "HÄUSER"),
        ("haus baum", "HÄUSER und Bäume"),
        ("baum", "Bäume"),
    ]


def test_characters_beside_words_are_not_stemmed() -> None:
    vectorizer = TextVectorizer(stemmer="german", char_ngram_range=(8, 8)).fit(["Häuser"])
    assert list(vectorizer.get_feature_names_out()) == ["haus", "char: häuser "]


def test_fields_are_stemmed() -> None:
    vectorizer = TextVectorizer(stemmer="german", fields={"title": 2.0}, norm=None, use_idf=False)
    assert vectorizer.fit_transform([{"title": "Häuser"}, "Häuser und Haus"]).toarray().tolist() == [
        [2, 0],
        [2, 1],
    ]


def test_the_map_of_words_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_LARGEST_MAP", 10)
    vectorizer = TextVectorizer(stemmer="german").fit(["Haus"])
    for i in range(30):
        assert vectorizer.transform([f"Häuser wort{i} und"]).nnz == 1
        assert len(languages._stems["german"]) <= 13


def test_many_threads_share_one_stemmer() -> None:
    words = [
        f"{stem}{end}"
        for stem in ("häus", "bäum", "schön", "lauf")
        for end in ("er", "ern", "es", "e", "ung")
    ]
    texts = [
        " ".join(words[i % 20] + str(i % 7) + " " + words[(i * 3) % 20] for i in range(k, k + 50))
        for k in range(80)
    ]
    expected = TextVectorizer(stemmer="german").fit_transform(texts)
    vectorizer = TextVectorizer(stemmer="german", n_jobs=2).fit(texts)
    again = TextVectorizer.from_state(*vectorizer.state())
    languages._stems.clear()
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: again.transform(texts), range(8)):
            assert (rows != expected).nnz == 0

"""Tokenizers of one's own: found by name, saved by name, and never imported because a model says so."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from tests.texts import ngram_ranges, sea_texts
from tests.tokenizers import split_at_spaces, without_plural
from tests.unit.test_text_vectorizer import assert_same_rows, fitted_rows

from labeltree import LabelTreeClassifier
from labeltree.errors import ModelFileError
from labeltree.model_file import load, read_info
from labeltree.text import Tagger, TextVectorizer, allow_import, tokenizers

pytestmark = pytest.mark.native

NAME = "tests.tokenizers:split_at_spaces"
TEXTS = ["the sea", "a Boat!", "cats and dogs"]


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "_allowed", set())
    monkeypatch.delenv("LABELTREE_ALLOW_IMPORT", raising=False)


@given(
    st.lists(sea_texts, min_size=1, max_size=6),
    ngram_ranges,
    st.booleans(),
    st.sampled_from([None, "unicode"]),
    st.sampled_from([None, ["sea"]]),
)
def test_like_scikit_learn(
    texts: list[str],
    ngram_range: tuple[int, int],
    lowercase: bool,
    strip_accents: str | None,
    stop_words: list[str] | None,
) -> None:
    parameters: dict[str, Any] = {
        "ngram_range": ngram_range,
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "stop_words": stop_words,
    }
    expected = TfidfVectorizer(tokenizer=split_at_spaces, token_pattern=None, **parameters)
    found = TextVectorizer(tokenizer=NAME, **parameters)
    rows, own = fitted_rows(expected, texts), fitted_rows(found, texts)
    assert (rows is None) == (own is None)
    if rows is not None and own is not None:
        assert list(found.get_feature_names_out()) == list(expected.get_feature_names_out())
        assert_same_rows(own, rows)


def saved(path: Path, tokenizer: Any = split_at_spaces) -> Tagger:
    tagger = Tagger(LabelTreeClassifier(random_state=0), TextVectorizer(tokenizer=tokenizer))
    tagger.fit(TEXTS, [["sea"], ["boat"], ["cat"]]).save(path)
    return tagger


def test_a_model_is_saved_with_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = saved(tmp_path / "model")
    assert read_info(tmp_path / "model").format_version == 13
    assert Tagger.load(tmp_path / "model").vectorizer_.tokenizer == NAME  # this process has trained it
    monkeypatch.setattr(tokenizers, "_allowed", set())
    message = (
        f"'{NAME}', and models may not import code by themselves.*LABELTREE_ALLOW_IMPORT={NAME}.*"
        rf"allow_import\('{NAME}'\)"
    )
    with pytest.raises(ModelFileError, match=message):
        Tagger.load(tmp_path / "model")
    monkeypatch.setenv("LABELTREE_ALLOW_IMPORT", f"other:function, {NAME}")
    again = Tagger.load(tmp_path / "model")
    assert again.predict_topk(TEXTS, 2).labels.tolist() == tagger.predict_topk(TEXTS, 2).labels.tolist()
    monkeypatch.delenv("LABELTREE_ALLOW_IMPORT")
    allow_import(NAME)
    assert Tagger.load(tmp_path / "model").vectorizer_.get_params()["tokenizer"] == NAME


@pytest.mark.parametrize("name", ["os:system", "subprocess:call", "hostile_module:run", "builtins:exec"])
def test_a_hostile_model_imports_and_calls_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the module is imported already, or another function of it is allowed."""
    saved(tmp_path / "model")
    (tmp_path / "hostile_module.py").write_text("open('called', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    document["text"]["settings"]["tokenizer"] = name
    (tmp_path / "model" / "model.json").write_text(json.dumps(document))
    allow_import(name.split(":")[0] + ":other")
    called: list[Any] = []
    monkeypatch.setattr(os, "system", called.append)
    monkeypatch.setattr(subprocess, "call", called.append)
    for opened in (load, Tagger.load):
        with pytest.raises(ModelFileError, match="models may not import code by themselves"):
            opened(tmp_path / "model")
    read_info(tmp_path / "model")
    assert called == []
    assert "hostile_module" not in sys.modules
    assert not (tmp_path / "called").exists()


def test_a_tokenizer_that_is_missing(tmp_path: Path) -> None:
    saved(tmp_path / "model")
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    for name, message in (
        ("no_such_package:f", "'no_such_package:f' cannot be imported: No module named"),
        (
            "tests.tokenizers:gone",
            "'tests.tokenizers:gone' cannot be imported: module .* has no attribute 'gone'",
        ),
        ("tests.tokenizers:not_a_function", "must be a function, got int"),
    ):
        document["text"]["settings"]["tokenizer"] = name
        (tmp_path / "model" / "model.json").write_text(json.dumps(document))
        allow_import(name)
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / "model")


@pytest.mark.parametrize("name", ["os.system", "os:path.join", "os:", ":f", "a b:c", "os:system()", 3])
def test_names_that_are_none(name: Any) -> None:
    with pytest.raises(ValueError, match="'tokenizer' must be a function, or its name"):
        TextVectorizer(tokenizer=name).fit(TEXTS)
    with pytest.raises(ValueError, match="expected a name such as"):
        allow_import(name)


def test_functions_that_cannot_be_imported() -> None:
    def local(text: str) -> list[str]:
        return [text]

    class Callable:
        def __call__(self, text: str) -> list[str]:
            return [text]

    for function in (local, lambda text: [text], str.split, Callable()):
        with pytest.raises(
            ValueError, match="a tokenizer is saved by its name, so it must be a function that can"
        ):
            TextVectorizer(tokenizer=function).fit(TEXTS)
    main = type(local)(local.__code__, {}, "main")
    main.__module__, main.__qualname__ = "__main__", "main"
    with pytest.raises(ValueError, match="defined in __main__"):
        TextVectorizer(tokenizer=main).fit(TEXTS)


@pytest.mark.parametrize(("name", "found"), [("a_string", "str"), ("numbers", "int")])
def test_what_a_tokenizer_must_return(name: str, found: str) -> None:
    with pytest.raises(
        ValueError, match=f"'tests.tokenizers:{name}' must return a list of strings, got {found}"
    ):
        TextVectorizer(tokenizer=f"tests.tokenizers:{name}").fit(TEXTS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"analyzer": "char"}, "tokenizer works only with analyzer='word'"),
        ({"char_ngram_range": (2, 3)}, "char_ngram_range works only with words"),
    ],
)
def test_wrong_combinations(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextVectorizer(tokenizer=NAME, **parameters).fit(TEXTS)


def test_wrong_texts_are_named() -> None:
    with pytest.raises(ValueError, match="text 1: expected a string, got int"):
        TextVectorizer(tokenizer=NAME).fit(["sea", 3])


def test_words_with_the_separator_of_the_kernel() -> None:
    vectorizer = TextVectorizer(tokenizer=NAME).fit(["a\0b \0 c"])
    assert list(vectorizer.get_feature_names_out()) == ["ab", "c"]


def test_fields_and_stems_of_own_words() -> None:
    vectorizer = TextVectorizer(
        tokenizer=NAME, stemmer="english", fields={"title": 2.0, "text": 1.0}, norm=None, use_idf=False
    )
    rows = vectorizer.fit_transform([{"title": "boats!", "text": "sailing boats"}, "sails"])
    assert dict(zip(vectorizer.get_feature_names_out(), rows.toarray().T.tolist(), strict=True)) == {
        "boat": [1, 0],
        "boats!": [2, 0],
        "sail": [1, 1],
    }


def test_places_of_own_words() -> None:
    lemmas = TextVectorizer(tokenizer=without_plural, ngram_range=(1, 2)).fit(["boat sea"])
    text = "İ BOATS, sea!"
    names = lemmas.get_feature_names_out()
    assert [(names[column], text[begin:end]) for column, begin, end in lemmas.spans(text)] == [
        ("boat", "BOATS"),
        ("boat sea", "BOATS, sea"),
        ("sea", "sea"),
    ]
    chinese = TextVectorizer(tokenizer="tests.tokenizers:pairs").fit(["中国人民"])
    assert chinese.spans("人民中国") == [(1, 0, 2), (0, 2, 4)]


def test_pickles_know_their_tokenizer() -> None:
    vectorizer = TextVectorizer(tokenizer=split_at_spaces).fit(TEXTS)
    dumped = pickle.dumps(vectorizer)
    tokenizers._allowed.clear()
    assert (pickle.loads(dumped).transform(TEXTS) != vectorizer.transform(TEXTS)).nnz == 0

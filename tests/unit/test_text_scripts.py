"""A warning where words are not separated by spaces."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from labeltree.text import TextVectorizer

pytestmark = pytest.mark.native

CHINESE = ["我是中国人我喜欢船", "船在海上"]
UNSPACED = [CHINESE, ["東京の海です"], ["ภาษาไทยง่าย"], ["ພາສາລາວ"], ["ភាសាខ្មែរ"], ["မြန်မာဘာသာ"], ["カタカナ"]]
MESSAGE = "without spaces between words.*analyzer='char' with ngram_range=\\(1, 2\\)"


@pytest.mark.parametrize("texts", UNSPACED)
def test_texts_without_spaces(texts: list[str]) -> None:
    texts = [*texts * 10, "ab"]
    for given in (texts, iter(texts), np.array(texts), [{"title": text} for text in texts]):
        with pytest.warns(UserWarning, match=MESSAGE) as found:
            TextVectorizer(fields={"title": 2.0}).fit(given)
        assert len(found) == 1


def test_an_iterator_loses_no_text() -> None:
    with pytest.warns(UserWarning, match=MESSAGE):
        rows = TextVectorizer().fit_transform(text for _ in range(150) for text in CHINESE)
    assert rows.shape[0] == 300


@pytest.mark.parametrize(
    ("texts", "parameters"),
    [
        (["the old sea", "an English text that has 中国 in it"], {}),
        (["한국어 텍스트", "Русский текст", "עברית", "ελληνικά"], {}),
        (["", "123 !", "the"], {"n_features": 8}),
        (["中国 sea"], {}),  # too few to tell
        (CHINESE * 10, {"analyzer": "char"}),
        (CHINESE * 10, {"char_ngram_range": (1, 2)}),
        (CHINESE * 10, {"tokenizer": "tests.tokenizers:pairs"}),
        (["我 是 中国 人 我 喜欢 船"] * 10, {"analyzer": "whitespace"}),
    ],
)
def test_other_texts_and_settings(texts: list[str], parameters: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer(**parameters).fit(texts)


def test_most_texts_decide() -> None:
    with pytest.warns(UserWarning, match=MESSAGE):
        TextVectorizer().fit(["sea", *CHINESE * 300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer().fit([*CHINESE, *["the old sea"] * 300])

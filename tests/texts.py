"""Texts and settings for the tests of text vectorizers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

#: Characters that lower case, accents, the splitting or the encoding treat in ways of their own.
ODD = (
    "Σ\u03c3ςİ\u0131ßẞÉéeÅåñ\u0301\u0307\u0327ǅﬁﷺ½²Ⅷ٣א\u05b4ב中国한글\U0001d400\U00010400\U0001f600\u200d\u200f\u00ad\u0000_"
    "\t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u3000"
)
_letters = st.sampled_from("abcAB12_ -.,'  ")
#: Texts that can be encoded as UTF-8.
encodable = st.text(
    st.one_of(_letters, st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=40
)
any_text = st.one_of(
    encodable, st.text(st.one_of(st.sampled_from("ab \ud800\udfff"), st.characters()), max_size=20)
)
#: Texts that have words in common.
sea_texts = st.lists(
    st.sampled_from(["sea", "Boat", "the", "and", "wave", "X", "ÉTÉ", "ΟΔΟΣ", ", ", "\n"]), max_size=12
).map(" ".join)

ngram_ranges = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair)))
analyses = st.fixed_dictionaries(
    {
        "ngram_range": ngram_ranges,
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "unicode", "ascii"]),
    }
)
stop_words = st.sampled_from([None, "english", ["sea", "été", "", "X"]])
#: Those that scikit-learn has too.
analyzers = st.one_of(
    st.fixed_dictionaries({"analyzer": st.just("word"), "stop_words": stop_words}),
    st.fixed_dictionaries({"analyzer": st.sampled_from(["char", "char_wb"])}),
)


def random_texts(n_texts: int, seed: int = 0) -> list[str]:
    """Texts of some hundred words, frequent and rare ones, some with letters that are not ASCII."""
    rng = np.random.default_rng(seed)
    words = [f"{'é' if i % 50 == 7 else ''}w{i}" for i in range(2000)]
    counts = rng.integers(0, 400, n_texts)
    return [" ".join(words[i] for i in (rng.pareto(0.7, n) * 5).astype(int).clip(0, 1999)) for n in counts]

"""Texts: any Unicode goes through vectorizers and taggers, with any options, and every way gives the same rows."""

from __future__ import annotations

import json
import random
import shutil
import warnings
from typing import Any

import numpy as np
from tests.fuzz.mutation import random_text
from tests.fuzz.target import Case, Target

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.data import WordVectors, word_counts
from labeltree.text import Tagger, TextVectorizer, WordVectorizer

CASE = "texts.json"
SENTENCES = [
    "A boat at SEA",
    "the sea, the blåbær",
    "cats & dogs",
    "a dog's life",
    "Ein Boot, der Hund",
    "",
    " ",
]


class Texts(Target):
    """Fits vectorizers and taggers on random texts with random options, and asks them all that there is to ask."""

    def seeds(self) -> list[Case]:
        options = (
            {},
            {"analyzer": "char", "ngram_range": [2, 3]},
            {"analyzer": "whitespace", "ngram_range": [1, 2], "char_ngram_range": [3, 4], "buckets": 64},
        )
        return [_case(SENTENCES, one) for one in options]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        known = json.loads(rng.choice(corpus)[CASE])
        texts = [_text(rng, known["texts"]) for _ in range(rng.choice([0, 1, 2, 5, 20]))]
        options = {**known["options"], **{key: _option(rng, key) for key in rng.sample(list(OPTIONS), 3)}}
        return _case(texts, options)

    def run(self, case: Case) -> str:
        given = json.loads(case[CASE])
        texts, options = given["texts"], given["options"]
        warnings.filterwarnings("ignore", "prune=", UserWarning)
        vectorizer = TextVectorizer(
            **{
                key: tuple(value) if key.endswith("range") and value else value
                for key, value in options.items()
            }
        )
        fitted = vectorizer.fit_transform(texts)
        rows = check_vectorizer(vectorizer, texts)
        assert_same(fitted, rows)
        if any(texts) and rows.nnz and rows.shape[1] < 100_000:
            self._check_tagger(vectorizer, texts)
        check_words(texts)
        return f"answered: {sorted(key for key, value in options.items() if value)}"

    def _check_tagger(self, vectorizer: TextVectorizer, texts: list[str]) -> None:
        labels = [[f"label {i % 3}"] for i in range(len(texts))]
        tagger = Tagger(LabelTreeClassifier(random_state=0, n_jobs=1), vectorizer).fit(texts, labels)
        tags = tagger.tag(texts, k=2)
        for text in texts[:3]:
            for highlight in tagger.explain(text, labels[0][0]).highlights:
                assert 0 <= highlight.begin < highlight.end <= len(text)
        tagger.save(self.folder / "tagger")
        try:
            again = Tagger.load(self.folder / "tagger", verify=True)
            assert again.tag(texts, k=2) == tags, "the saved tagger answers differently"
        finally:
            shutil.rmtree(self.folder / "tagger")


def check_vectorizer(vectorizer: TextVectorizer, texts: list[str]) -> Any:
    """Return the rows of texts, which are the same from every way to get them."""
    rows = vectorizer.transform(texts)
    rows.check_format()
    assert np.isfinite(rows.data).all()
    assert rows.shape == (len(texts), vectorizer.n_features_out)
    settings, arrays = vectorizer.state()
    again = TextVectorizer.from_state(json.loads(json.dumps(settings)), arrays)
    assert_same(again.transform(texts), rows)
    again.n_jobs = 1 if vectorizer.n_jobs == 3 else 3
    assert_same(again.transform(texts), rows)
    if rows.shape[1] < 100_000:
        assert len(vectorizer.get_feature_names_out()) == rows.shape[1]
    for i, text in enumerate(texts):
        columns = set()
        for column, begin, end in vectorizer.spans(text):
            assert 0 <= begin < end <= len(text)
            columns.add(column)
        known = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
        assert columns <= set(known) or vectorizer.n_features is not None
    return rows


def check_words(texts: list[str]) -> None:
    """Let the other readers of texts read them."""
    rows = [word_counts(text) for text in texts]
    if any(rows):
        model = OnlineLabelTreeClassifier(random_state=0).partial_fit(rows, [["a"]] * len(rows))
        model.predict_topk(rows, k=1)
    vectors = WordVectors(["sea", "ab"], np.ones((2, 2), dtype=np.float32))
    pooled = WordVectorizer(vectors, pooling=("mean", "max", "min")).fit(texts).transform(texts or ["x"])
    assert np.isfinite(pooled).all()


def assert_same(one: Any, other: Any) -> None:
    assert one.shape == other.shape, (one.shape, other.shape)
    for name in ("indptr", "indices", "data"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), f"other {name}"


def _case(texts: list[str], options: dict[str, Any]) -> Case:
    return {CASE: json.dumps({"texts": texts, "options": options}).encode()}


def _text(rng: random.Random, known: list[str]) -> str:
    match rng.randrange(7):
        case 0 if known:
            return rng.choice(known)
        case 1 if known:
            at = rng.randrange(len(text := rng.choice(known)) + 1)
            return text[:at] + random_text(rng, 5) + text[at:]
        case 2:
            return rng.choice(["ab ", "é", "x", "\ud800", "İ", " ", "a\u0301", "\0"]) * rng.choice(
                [100, 100, 100, 3000, 40_000]
            )
        case 3:
            return " ".join(rng.choice(SENTENCES) for _ in range(9))
        case _:
            return random_text(rng, rng.choice([5, 40, 400]))


def _range(rng: random.Random) -> list[int]:
    low = rng.choice([1, 1, 1, 2, 3, 50])
    return [low, low + rng.choice([0, 0, 1, 2])]


OPTIONS: dict[str, Any] = {
    "analyzer": lambda rng: rng.choice(["word", "word", "whitespace", "char", "char_wb"]),
    "ngram_range": lambda rng: rng.choice([_range(rng), _range(rng), [1, 1], [0, 1], [2, 1], [1, 2**31]]),
    "char_ngram_range": lambda rng: rng.choice([None, None, _range(rng)]),
    "lowercase": lambda rng: rng.random() < 0.5,
    "strip_accents": lambda rng: rng.choice([None, "unicode", "ascii"]),
    "stop_words": lambda rng: rng.choice([None, "english", ["sea", "", random_text(rng, 5)], []]),
    "min_df": lambda rng: rng.choice([1, 1, 2, 0.1, 0.5, 1.0, 0, -1]),
    "max_df": lambda rng: rng.choice([1.0, 1.0, 0.9, 2, 1, 0.0]),
    "max_features": lambda rng: rng.choice([None, None, 1, 2, 100, 0]),
    "binary": lambda rng: rng.random() < 0.3,
    "use_idf": lambda rng: rng.random() < 0.7,
    "smooth_idf": lambda rng: rng.random() < 0.7,
    "sublinear_tf": lambda rng: rng.random() < 0.3,
    "norm": lambda rng: rng.choice(["l2", "l1", None]),
    "n_features": lambda rng: rng.choice([None, None, 1, 64, 2**20, 2**30]),
    "buckets": lambda rng: rng.choice([None, None, 1, 64, 2**20, 2**30]),
    "n_jobs": lambda rng: rng.choice([None, 1, 3, 0]),
}


def _option(rng: random.Random, key: str) -> Any:
    return OPTIONS[key](rng)

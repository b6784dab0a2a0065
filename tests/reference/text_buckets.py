"""Words in columns of a vocabulary and longer terms in hashed buckets: text by text, in plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import murmurhash3_32
from tests.reference.text_terms import normal_characters, windows

#: Terms of a text: a word is a string, a bucket a number.
Term = str | int


class BucketTwin:
    """What `TextVectorizer` does with `buckets`; `words` and `idf` are what was learned."""

    def __init__(
        self,
        texts: Sequence[Any],
        buckets: int,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        char_ngram_range: tuple[int, int] | None = None,
        lowercase: bool = True,
        strip_accents: str | None = None,
        stop_words: frozenset[str] = frozenset(),
        stem: Callable[[str], str] = str,
        min_df: int = 1,
        max_features: int | None = None,
        binary: bool = False,
        use_idf: bool = True,
        sublinear_tf: bool = False,
        norm: str | None = "l2",
        fields: Mapping[str, float] | None = None,
    ) -> None:
        self.buckets, self.analyzer = buckets, analyzer
        self.longest, self.char_ngram_range = ngram_range[1], char_ngram_range
        self.normal = lowercase, strip_accents
        self.stop_words, self.stem = stop_words, stem
        self.binary, self.sublinear_tf, self.norm = binary, sublinear_tf, norm
        self.fields = fields or {}
        n_texts, n_times = Counter[Term](), Counter[Term]()
        for text in texts:
            n_texts.update(self.counts(text).keys())
            for piece, _ in self.pieces(text):
                n_times.update(self.terms(piece))
        self.words = sorted(word for word, n in n_texts.items() if isinstance(word, str) and n >= min_df)
        if max_features is not None and len(self.words) > max_features:
            frequency = np.array([(n_texts if binary else n_times)[word] for word in self.words], dtype=float)
            self.words = [self.words[i] for i in sorted((-frequency).argsort()[:max_features])]
        self.columns: list[Term] = [*self.words, *range(buckets)]
        self.idf = np.ones(len(self.columns))
        if use_idf:
            with_column = np.array([n_texts[term] for term in self.columns])
            self.idf = np.log((1 + len(texts)) / (1 + with_column)) + 1

    def rows(self, texts: Sequence[Any]) -> NDArray[np.float64]:
        rows = np.zeros((len(texts), len(self.columns)))
        for row, text in zip(rows, texts, strict=True):
            counts = self.counts(text)
            row += [counts[term] for term in self.columns]
            if self.sublinear_tf:
                row[row >= 1] = np.log(row[row >= 1]) + 1
            row *= self.idf
            size = {"l1": np.abs(row).sum(), "l2": np.sqrt(row @ row), None: 0}[self.norm]
            row /= size or 1
        return rows

    def counts(self, text: Any) -> Counter[Term]:
        counts: Counter[Term] = Counter()
        for piece, weight in self.pieces(text):
            for term, n in Counter(self.terms(piece)).items():
                counts[term] += weight * (1 if self.binary else n)  # type: ignore[assignment]
        return counts

    def pieces(self, text: Any) -> list[tuple[str, float]]:
        if isinstance(text, str):
            return [(text, 1)]
        return [(text.get(name) or "", weight) for name, weight in self.fields.items()]

    def terms(self, text: str) -> list[Term]:
        normal = "".join(character for character, _, _ in normal_characters(text, *self.normal))
        words = normal.split() if self.analyzer == "whitespace" else re.findall(r"\b\w\w+\b", normal)
        words = [self.stem(word) for word in words if word not in self.stop_words]
        words = [word for word in words if word]
        hashed = []
        for n in range(2, self.longest + 1):
            hashed += [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        if self.char_ngram_range is not None:
            for word in normal.split():
                hashed += ["".join(part) for part in windows(f" {word} ", self.char_ngram_range, whole=True)]
        return [*words, *map(self.bucket, hashed)]

    def bucket(self, term: str) -> int:
        return abs(int(murmurhash3_32(term.encode("utf-8", "surrogatepass")))) % self.buckets

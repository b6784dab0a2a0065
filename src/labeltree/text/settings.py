"""The settings of a text vectorizer, checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from labeltree import _native
from labeltree.validation import LARGEST_INTEGER, Choice, Constraint, Flag, Number, check_arguments

#: The bytes of terms one after another, and where each begins.
Terms = tuple[NDArray[np.uint8], NDArray[np.int64]]

_KINDS = {
    "word": _native.AnalyzerKind.WORD,
    "char": _native.AnalyzerKind.CHAR,
    "char_wb": _native.AnalyzerKind.CHAR_WB,
}
NORMS = {"l1": _native.RowNorm.L1, "l2": _native.RowNorm.L2, None: _native.RowNorm.NONE}

#: Half of the columns that there can be, as words and characters may both have so many.
LARGEST_N_FEATURES = 2**30 - 1


@dataclass(frozen=True)
class NgramRange:
    """A parameter that is a pair of counts, the smaller first."""

    optional: bool = False

    def __str__(self) -> str:
        return "a pair of integers of at least 1, the smaller first" + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if not isinstance(value, tuple | list) or len(value) != 2:
            return False
        count = Number(1, LARGEST_INTEGER, integer=True)
        return count.accepts(value[0]) and count.accepts(value[1]) and bool(value[0] <= value[1])


@dataclass(frozen=True)
class NumberOfTexts:
    """A parameter that counts texts, or is a share of them if it is a float."""

    def __str__(self) -> str:
        return "an integer of at least 1 (texts) or a float from 0.0 to 1.0 (a share of the texts)"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, Integral):
            return Number(1, integer=True).accepts(value)
        return Number(0, 1).accepts(value)


@dataclass(frozen=True)
class StopWords:
    """A parameter that is ``"english"``, a collection of words, or None."""

    def __str__(self) -> str:
        return "'english', a collection of strings or None"

    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in (None, "english")
        is_collection = isinstance(value, Collection) and not isinstance(value, bytes | Mapping)
        return is_collection and all(isinstance(word, str) for word in value)


_CONSTRAINTS: dict[str, Constraint] = {
    "analyzer": Choice(tuple(_KINDS)),
    "ngram_range": NgramRange(),
    "char_ngram_range": NgramRange(optional=True),
    "lowercase": Flag(),
    "strip_accents": Choice(("unicode", "ascii"), optional=True),
    "stop_words": StopWords(),
    "min_df": NumberOfTexts(),
    "max_df": NumberOfTexts(),
    "max_features": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "binary": Flag(),
    "use_idf": Flag(),
    "smooth_idf": Flag(),
    "sublinear_tf": Flag(),
    "norm": Choice(("l1", "l2"), optional=True),
    "n_features": Number(1, LARGEST_N_FEATURES, integer=True, optional=True),
}


@dataclass(frozen=True)
class TextSettings:
    """What a vectorizer was asked for, in plain Python, so that it can be written as JSON."""

    analyzer: str
    ngram_range: tuple[int, int]
    char_ngram_range: tuple[int, int] | None
    lowercase: bool
    strip_accents: str | None
    stop_words: str | tuple[str, ...] | None
    min_df: int | float
    max_df: int | float
    max_features: int | None
    binary: bool
    use_idf: bool
    smooth_idf: bool
    sublinear_tf: bool
    norm: str | None
    n_features: int | None

    @classmethod
    def checked(cls, owner: str, parameters: Mapping[str, Any]) -> TextSettings:
        """The settings of a vectorizer's parameters; `ValueError` if they are not what they must be."""
        check_arguments(owner, parameters, _CONSTRAINTS)
        settings = cls(**{name: _plain(parameters[name]) for name in _CONSTRAINTS})
        settings._check_together(owner)
        return settings

    def _check_together(self, owner: str) -> None:
        if self.analyzer != "word" and (self.char_ngram_range is not None or self.stop_words is not None):
            name = "stop_words" if self.char_ngram_range is None else "char_ngram_range"
            raise ValueError(f"{owner}: {name} goes with analyzer='word', got analyzer={self.analyzer!r}")
        if self.n_features is None:
            return
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None) or isinstance(self.max_df, int):
            raise ValueError(
                f"{owner}: min_df, max_df and max_features choose terms of a vocabulary, but n_features hashes terms "
                "without one: leave them at 1, 1.0 and None, or n_features at None"
            )
        if self.use_idf and not self.smooth_idf:
            raise ValueError(
                f"{owner}: smooth_idf=False with n_features would give columns that no text had an infinite weight: "
                "use smooth_idf=True, or use_idf=False"
            )

    @property
    def needs_fit(self) -> bool:
        """Whether anything is learned from texts."""
        return self.n_features is None or self.use_idf

    def as_json(self) -> dict[str, Any]:
        """What `checked` would make the same settings of, after a journey through JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def new_parts(self) -> list[_native.TextPart]:
        """The kernel's analyzers, to learn a vocabulary; or hashing, which is ready as it is."""
        return [self._part(i, None, (self.n_features or 0) * i) for i in range(self.n_parts)]

    def known_parts(self, terms: Iterable[Terms]) -> list[_native.TextPart]:
        """The kernel's analyzers with the terms they know."""
        parts: list[_native.TextPart] = []
        first_column = 0
        for number, known in enumerate(terms):
            parts.append(self._part(number, known, first_column))
            first_column += len(known[1]) - 1
        return parts

    @property
    def n_parts(self) -> int:
        return 1 if self.char_ngram_range is None else 2

    def _part(self, number: int, known: Terms | None, first_column: int) -> _native.TextPart:
        beside = number == 1  # the characters beside the words
        min_n, max_n = self.char_ngram_range if beside and self.char_ngram_range else self.ngram_range
        stop_words = None if beside else self._stop_list()
        kind = _KINDS["char_wb" if beside else self.analyzer]
        return _native.TextPart(
            kind, min_n, max_n, self.lowercase, stop_words, known, self.n_features or 0, first_column
        )

    def _stop_list(self) -> Terms | None:
        if self.stop_words is None:
            return None
        words = ENGLISH_STOP_WORDS if self.stop_words == "english" else self.stop_words
        encoded = sorted({word.encode("utf-8", "surrogatepass") for word in words} - {b""})
        begin = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(word) for word in encoded], out=begin[1:])
        return np.frombuffer(b"".join(encoded), dtype=np.uint8), begin


def _plain(value: Any) -> Any:
    """A parameter without NumPy's types, and collections as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return tuple(_plain(one) for one in value)
    if isinstance(value, Collection) and not isinstance(value, str):
        return tuple(sorted(value))
    return value

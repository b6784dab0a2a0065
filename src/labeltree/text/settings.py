"""The checked settings of a text vectorizer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import accumulate
from numbers import Integral
from typing import Any

import numpy as np

from labeltree import _native
from labeltree.text import languages, tokenizers
from labeltree.text.characters import CharacterFunctions, character_functions, normalized
from labeltree.text.terms import Terms, pack_terms
from labeltree.validation import LARGEST_INTEGER, Choice, Constraint, Flag, Number, check_arguments

_KINDS = {
    "word": _native.AnalyzerKind.WORD,
    "whitespace": _native.AnalyzerKind.WHITESPACE,
    "char": _native.AnalyzerKind.CHAR,
    "char_wb": _native.AnalyzerKind.CHAR_WB,
}
NORMS = {"l1": _native.RowNorm.L1, "l2": _native.RowNorm.L2, None: _native.RowNorm.NONE}

#: The analyzers that split texts into words.
WORD_ANALYZERS = ("word", "whitespace")

#: Settings that came after the first version of the section of texts in model files, and their versions.
LATER_SETTINGS = {"fields": 8, "stemmer": 8, "tokenizer": 8, "buckets": 9}
#: The same for values of `analyzer`.
LATER_ANALYZERS = {"whitespace": 9}

#: Half of the maximum number of columns, because words and characters, or a vocabulary and buckets, may each have
#: this many.
LARGEST_N_FEATURES = 2**30 - 1

#: Longer n-grams would let a small model file make the time for a text grow with the square of its length.
LARGEST_NGRAM = 100
_NGRAM_SIZE = Number(1, LARGEST_NGRAM, integer=True)

#: Beyond these limits, weights times counts could leave the range of float32.
_FIELD_WEIGHT = Number(1e-6, 1e6)


def _is_ngram_range(value: Any) -> bool:
    is_pair = isinstance(value, tuple | list) and len(value) == 2
    return is_pair and all(map(_NGRAM_SIZE.accepts, value)) and bool(value[0] <= value[1])


def _is_document_frequency(value: Any) -> bool:
    return (Number(1, integer=True) if isinstance(value, Integral) else Number(0, 1)).accepts(value)


def _is_word_list(value: Any) -> bool:
    if isinstance(value, str):
        return True  # a language, which `checked` looks up
    is_collection = isinstance(value, Collection) and not isinstance(value, bytes | Mapping)
    return is_collection and all(isinstance(word, str) for word in value)


def _is_fields(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    return all(isinstance(name, str) and _is_encodable(name) for name in value) and all(
        map(_FIELD_WEIGHT.accepts, value.values())
    )


def _is_encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


_NGRAM_RANGE = Constraint(f"a pair of integers from 1 to {LARGEST_NGRAM}, the smaller first", _is_ngram_range)
_DOCUMENT_FREQUENCY = Constraint(
    "an integer of at least 1 (texts) or a float from 0.0 to 1.0 (a share of the texts)",
    _is_document_frequency,
)
_FIELDS = Constraint(
    "a mapping of one or more names of fields to weights from 1e-6 to 1e6, such as {'title': 2.0, 'abstract': 1.0}",
    _is_fields,
    optional=True,
)
_STOP_WORDS = Constraint(
    "'english', a collection of strings, the name of another language", _is_word_list, optional=True
)
_STEMMER = Constraint("the name of a language", lambda value: isinstance(value, str), optional=True)
_TOKENIZER = Constraint(
    "a function, or its name such as 'mypackage.module:function'",
    lambda value: tokenizers.is_import_path(value) or callable(value),
    optional=True,
)


def _setting(constraint: Constraint) -> Any:
    return field(metadata={"constraint": constraint})


@dataclass(frozen=True)
class TextSettings:
    """The parameters of a vectorizer as plain Python values that JSON can hold, each with its constraint."""

    analyzer: str = _setting(Choice(tuple(_KINDS)))
    ngram_range: tuple[int, int] = _setting(_NGRAM_RANGE)
    char_ngram_range: tuple[int, int] | None = _setting(replace(_NGRAM_RANGE, optional=True))
    lowercase: bool = _setting(Flag())
    strip_accents: str | None = _setting(Choice(("unicode", "ascii"), optional=True))
    stop_words: str | tuple[str, ...] | None = _setting(_STOP_WORDS)
    min_df: int | float = _setting(_DOCUMENT_FREQUENCY)
    max_df: int | float = _setting(_DOCUMENT_FREQUENCY)
    max_features: int | None = _setting(Number(1, LARGEST_INTEGER, integer=True, optional=True))
    binary: bool = _setting(Flag())
    use_idf: bool = _setting(Flag())
    smooth_idf: bool = _setting(Flag())
    sublinear_tf: bool = _setting(Flag())
    norm: str | None = _setting(Choice(("l1", "l2"), optional=True))
    n_features: int | None = _setting(Number(1, LARGEST_N_FEATURES, integer=True, optional=True))
    fields: Mapping[str, float] | None = _setting(_FIELDS)
    stemmer: str | None = _setting(_STEMMER)
    tokenizer: str | None = _setting(_TOKENIZER)
    buckets: int | None = _setting(Number(1, LARGEST_N_FEATURES, integer=True, optional=True))

    @classmethod
    def checked(cls, owner: str, parameters: Mapping[str, Any]) -> TextSettings:
        """Return the settings for a vectorizer's parameters, or raise `ValueError` if they are not valid."""
        constraints = {one.name: one.metadata["constraint"] for one in fields(cls)}
        check_arguments(owner, parameters, constraints)
        plain = {name: _plain(parameters[name]) for name in constraints}
        if callable(plain["tokenizer"]):
            plain["tokenizer"] = tokenizers.name_of(plain["tokenizer"])
        if isinstance(plain["stop_words"], str) and plain["stop_words"] != "english":
            # The words themselves are kept, so that a model does not need the package that has the list.
            words = languages.stop_words_of(plain["stop_words"])
            how = plain["lowercase"], plain["strip_accents"]
            plain["stop_words"] = tuple(sorted({normalized(word, *how) for word in words}))
        settings = cls(**plain)
        settings._check_together(owner)
        return settings

    def _check_together(self, owner: str) -> None:
        for name in ("char_ngram_range", "stop_words", "stemmer", "tokenizer", "buckets"):
            allowed = ("word",) if name == "tokenizer" else WORD_ANALYZERS
            if self.analyzer not in allowed and getattr(self, name) is not None:
                expected = " or ".join(f"analyzer={one!r}" for one in allowed)
                raise ValueError(
                    f"{owner}: {name} works only with {expected}, got analyzer={self.analyzer!r}"
                )
        if self.tokenizer is not None and self.char_ngram_range is not None:
            raise ValueError(
                f"{owner}: char_ngram_range works only with words that are split by spaces, not by a tokenizer"
            )
        if self.stemmer is not None:
            languages.stems_of(self.stemmer)
        if self.buckets is not None:
            self._check_buckets(owner)
        if self.n_features is not None:
            self._check_hashing(owner)
        if self.n_hashed > 0 and self.use_idf and not self.smooth_idf:
            name = "buckets" if self.n_features is None else "n_features"
            raise ValueError(
                f"{owner}: smooth_idf=False with {name} would give an infinite weight to columns that no text has: "
                "use smooth_idf=True, or use_idf=False"
            )

    def _check_buckets(self, owner: str) -> None:
        if self.n_features is not None:
            raise ValueError(
                f"{owner}: expected n_features, which hashes all terms, or buckets, which hashes all but single words, "
                f"got n_features={self.n_features} and buckets={self.buckets}: leave one of them at None"
            )
        if self.ngram_range[0] != 1:
            raise ValueError(
                f"{owner}: with buckets, single words have columns of their own, so ngram_range must start at 1, got "
                f"{self.ngram_range}: use {(1, self.ngram_range[1])}, or n_features instead of buckets"
            )
        if self.ngram_range[1] == 1 and self.char_ngram_range is None:
            raise ValueError(
                f"{owner}: buckets are for n-grams of several words or of characters, but ngram_range is (1, 1) and "
                "char_ngram_range is None: use ngram_range=(1, 2), set char_ngram_range, or leave buckets at None"
            )

    def _check_hashing(self, owner: str) -> None:
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None) or isinstance(self.max_df, int):
            raise ValueError(
                f"{owner}: min_df, max_df and max_features choose terms of a vocabulary, but n_features hashes terms "
                "without one: leave them at 1, 1.0 and None, or n_features at None"
            )

    @property
    def needs_fit(self) -> bool:
        """Whether anything is learned from texts."""
        return self.n_features is None or self.use_idf

    @property
    def n_vocabularies(self) -> int:
        """The number of vocabularies: 2 if n-grams of characters have one in addition to words."""
        if self.n_features is not None:
            return 0
        return 1 if self.char_ngram_range is None or self.buckets is not None else 2

    @property
    def n_hashed(self) -> int:
        """The number of hashed columns, which come after those of vocabularies."""
        if self.n_features is None:
            return self.buckets or 0
        return self.n_features * (1 if self.char_ngram_range is None else 2)

    def characters(self) -> CharacterFunctions:
        """Return the functions that normalize characters, for the kernel."""
        if self.tokenizer is not None:  # it takes texts that are normalized already
            return character_functions(False, None)
        return character_functions(self.lowercase, self.strip_accents)

    def stems(self) -> _native.LearnedWords | None:
        """Return the map of words to their stems, if words are stemmed."""
        return None if self.stemmer is None else languages.stems_of(self.stemmer)

    def own_words(self) -> tokenizers.OwnWords | None:
        """Return the function that splits texts, if it is not the kernel that does."""
        if self.tokenizer is None:
            return None
        return tokenizers.OwnWords(self.tokenizer, self.lowercase, self.strip_accents)

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON values; `checked` accepts them and returns equal settings.

        Settings that came later are there only if they are used, so that older models stay as they are.
        """
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value is not None or name not in LATER_SETTINGS
        }

    def new_parts(self) -> list[_native.TextPart]:
        """Return the kernel's analyzers without a vocabulary: they learn one, or hash terms."""
        return self.parts([None] * self.n_vocabularies)

    def parts(self, vocabularies: Sequence[Terms | None]) -> list[_native.TextPart]:
        """Return the kernel's analyzers with the terms of their vocabularies; None is one that is to be learned."""
        analyzers = self._analyzers()
        if self.n_features is not None:
            return [
                _native.TextPart([analyzer], None, self.n_features, True, i * self.n_features)
                for i, analyzer in enumerate(analyzers)
            ]
        sizes = [0 if terms is None else len(terms[1]) - 1 for terms in vocabularies]
        first_columns = list(accumulate(sizes, initial=0))
        parts = [
            _native.TextPart([analyzer], terms, 0, False, first)
            for analyzer, terms, first in zip(analyzers, vocabularies, first_columns, strict=False)
        ]
        if self.buckets is not None:  # n-grams of words and of characters share them, as in fastText
            parts.append(_native.TextPart(analyzers[1:], None, self.buckets, False, first_columns[-1]))
        return parts

    def _analyzers(self) -> list[_native.TextAnalyzer]:
        """Return the analyzers of words and of characters; with `buckets` first that of single words alone."""
        ranges = [self.ngram_range]
        if self.buckets is not None:
            ranges = [(1, 1), (2, self.ngram_range[1])] if self.ngram_range[1] > 1 else [(1, 1)]
        kind = _KINDS[self.analyzer] if self.tokenizer is None else _native.AnalyzerKind.TOKENS
        lowercase = self.lowercase and self.tokenizer is None
        stop_words, stems = self._stop_list(), self.stemmer is not None
        analyzers = [_native.TextAnalyzer(kind, *one, lowercase, stop_words, stems) for one in ranges]
        if self.char_ngram_range is not None:
            kind = _KINDS["char_wb"]
            analyzers.append(_native.TextAnalyzer(kind, *self.char_ngram_range, lowercase, None, False))
        return analyzers

    def _stop_list(self) -> Terms | None:
        if self.stop_words is None:
            return None
        words = languages.stop_words_of("english") if self.stop_words == "english" else self.stop_words
        return pack_terms(sorted({*words} - {""}))


def _plain(value: Any) -> Any:
    """Return a parameter without NumPy's types, and with collections as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return tuple(_plain(one) for one in value)
    if isinstance(value, Mapping):
        return {name: float(weight) for name, weight in value.items()}
    if isinstance(value, Collection) and not isinstance(value, str):
        return tuple(sorted(value))
    return value

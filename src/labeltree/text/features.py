"""The features that texts were found to have: what a fitted vectorizer is."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labeltree import _native
from labeltree.text.characters import CharacterFunctions, character_functions
from labeltree.text.settings import NORMS, Terms, TextSettings
from labeltree.validation import LARGEST_INTEGER

#: What the arrays of terms are called in storage: those of the analyzer, and of characters beside words.
_STORED_TERMS = (("text", "text_begin"), ("char_text", "char_text_begin"))


class TextFeatures:
    """Columns for the terms of texts, and their weights. Nothing in it changes, so any threads may share it.

    Parameters
    ----------
    settings : TextSettings
    terms : sequence of pairs of arrays
        The terms in their order, a pair for words and one for characters beside them; none where terms are hashed.
    idf : array of float64, optional
        What columns are multiplied by.
    """

    def __init__(
        self, settings: TextSettings, terms: Sequence[Terms] = (), idf: NDArray[np.float64] | None = None
    ) -> None:
        self.settings = settings
        self.terms = terms
        self.idf = idf
        hashes = settings.n_features is not None
        self._parts = settings.new_parts() if hashes else settings.known_parts(terms)
        self.n_columns = (
            settings.n_parts * settings.n_features
            if settings.n_features is not None
            else sum(len(begin) - 1 for _, begin in terms)
        )
        if self.n_columns > LARGEST_INTEGER:
            raise ValueError(f"expected at most {LARGEST_INTEGER:,} terms, got {self.n_columns:,}")
        if idf is not None:
            _check_idf(idf, self.n_columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return TextFeatures, (self.settings, self.terms, self.idf)

    def transform(self, texts: Iterable[str], n_threads: int) -> csr_matrix:
        """The rows of texts."""
        return self.rows(self._counted(texts, n_threads))

    def arrays_of(self, texts: Iterable[str], n_threads: int) -> tuple[NDArray[Any], ...]:
        """The rows of texts as the arrays of a CSR matrix, for those to whom a matrix takes too long to make."""
        return self._arrays(self._counted(texts, n_threads))

    def _counted(self, texts: Iterable[str], n_threads: int) -> _native.TextCounter:
        counter = _native.TextCounter(self._parts, True, False, n_threads)
        count(counter, texts, self.settings)
        return counter

    def _arrays(self, counter: _native.TextCounter) -> tuple[NDArray[Any], ...]:
        settings = self.settings
        arrays: tuple[NDArray[Any], ...] = counter.rows(
            settings.binary, settings.sublinear_tf, NORMS[settings.norm], self.idf
        )
        return arrays

    def rows(self, counter: _native.TextCounter) -> csr_matrix:
        """The rows of all texts that were counted."""
        indptr, indices, data = self._arrays(counter)
        index_type = np.int32 if indptr[-1] <= LARGEST_INTEGER else np.int64
        rows = csr_matrix(
            (data, indices.astype(index_type, copy=False), indptr.astype(index_type, copy=False)),
            shape=(len(indptr) - 1, self.n_columns),
        )
        rows.has_canonical_format = True  # columns ascend: no need to look
        return rows

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Column, begin and end of every known term of a text, in characters of the text as it is."""
        spans = _native.text_spans(self._parts, text, *_characters(self.settings))
        if self.settings.strip_accents is None or text.isascii():
            return spans
        # Accents that were taken away belong to the letter before them.
        ends = np.arange(len(text) + 1)
        for at in range(len(text) - 1, -1, -1):
            if unicodedata.combining(text[at]):
                ends[at] = ends[at + 1]
        return [(column, begin, int(ends[end])) for column, begin, end in spans]

    def names(self) -> NDArray[np.object_]:
        """The terms by column. Characters beside words have ``char:`` before them, which no word has."""
        if self.settings.n_features is not None:
            return np.array([f"textvectorizer{i}" for i in range(self.n_columns)], dtype=object)
        names = [
            ("char:" if part == 1 else "") + term
            for part, terms in enumerate(self.terms)
            for term in _decoded(*terms)
        ]
        return np.array(names, dtype=object)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `from_arrays` needs besides the settings."""
        arrays: dict[str, NDArray[Any]] = {}
        for names, terms in zip(_STORED_TERMS, self.terms, strict=False):
            arrays.update(zip(names, terms, strict=True))
        if self.idf is not None:
            arrays["idf"] = self.idf
        return arrays

    @classmethod
    def from_arrays(cls, settings: TextSettings, arrays: Mapping[str, Any]) -> TextFeatures:
        """What was stored; `ValueError` if arrays are missing, too many, or not what they must be."""
        stored = _STORED_TERMS[: settings.n_parts] if settings.n_features is None else ()
        expected = [name for names in stored for name in names] + ["idf"] * settings.use_idf
        if set(arrays) != set(expected):
            raise ValueError(f"expected the arrays {expected}, got {sorted(map(str, arrays))}")
        terms = [
            (_stored(arrays, text, np.uint8), _stored(arrays, begin, np.int64)) for text, begin in stored
        ]
        return cls(settings, terms, _stored(arrays, "idf", np.float64) if settings.use_idf else None)


def learn_features(
    settings: TextSettings, texts: Iterable[str], keep_rows: bool, n_threads: int
) -> tuple[TextFeatures, _native.TextCounter]:
    """Find the terms of texts and weigh them; with `keep_rows` the counter can give the rows of the texts."""
    hashes = settings.n_features is not None
    counter = _native.TextCounter(settings.new_parts(), keep_rows, hashes and settings.use_idf, n_threads)
    count(counter, texts, settings)
    terms: list[Terms] = []
    if hashes:
        n_texts = counter.hashed_texts()
    else:
        kept = [_choose_terms(counter, part, settings) for part in range(settings.n_parts)]
        n_texts = np.concatenate(kept)
        terms = [counter.terms(part) for part in range(settings.n_parts)]
    idf = None
    if settings.use_idf:
        smooth = float(settings.smooth_idf)
        idf = np.log((counter.n_texts + smooth) / (n_texts + smooth)) + 1
    return TextFeatures(settings, terms, idf), counter


def count(counter: _native.TextCounter, texts: Iterable[str], settings: TextSettings) -> None:
    """Count the terms of texts; `ValueError` for what is not a text."""
    if isinstance(texts, str | bytes):
        raise ValueError("expected a sequence of texts, got a single one: put it into a list")
    counter.add(texts, *_characters(settings))


def _choose_terms(counter: _native.TextCounter, part: int, settings: TextSettings) -> NDArray[np.int64]:
    """Keep the terms that the settings allow; how many texts have each, in their order."""
    most, fewest = (
        limit if isinstance(limit, int) else limit * counter.n_texts
        for limit in (settings.max_df, settings.min_df)
    )
    if most < fewest:
        raise ValueError(
            f"max_df={settings.max_df} allows {most:g} texts, fewer than the {fewest:g} of min_df={settings.min_df}"
        )
    n_texts: NDArray[np.int64]
    n_texts, n_times = counter.finish(part, math.ceil(fewest), math.floor(most))
    if settings.max_features is not None and len(n_texts) > settings.max_features:
        frequency = (n_texts if settings.binary else n_times).astype(np.float64)
        # The very call of scikit-learn, because it decides between terms that are equally frequent.
        chosen = (-frequency).argsort()[: settings.max_features]
        keep = np.zeros(len(n_texts), dtype=np.uint8)
        keep[chosen] = 1
        counter.select(part, keep)
        n_texts = n_texts[keep.astype(bool)]
    if len(n_texts) == 0:
        raise ValueError(
            f"no terms are left of {counter.n_texts} texts: they have none, or stop_words, min_df and max_df allow none"
        )
    return n_texts


def _characters(settings: TextSettings) -> CharacterFunctions:
    return character_functions(settings.lowercase, settings.strip_accents)


def _decoded(text: NDArray[np.uint8], begin: NDArray[np.int64]) -> list[str]:
    try:
        return list(_native.decode_texts(text, begin))
    except UnicodeDecodeError:  # sequences of characters may have surrogates among them
        encoded = text.tobytes()
        return [encoded[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(begin)]


def _stored(arrays: Mapping[str, Any], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    array = arrays[name]
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
        found = (
            f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        )
        raise ValueError(f"expected {name} as a row of {np.dtype(dtype)}, got {found}")
    return np.require(array, requirements=["C", "A"])


def _check_idf(idf: NDArray[np.float64], n_columns: int) -> None:
    if idf.shape != (n_columns,):
        raise ValueError(f"expected {n_columns} numbers of idf, got the shape {idf.shape}")
    if not (np.isfinite(idf) & (idf > 0)).all():
        raise ValueError("the numbers of idf must be finite and above 0")

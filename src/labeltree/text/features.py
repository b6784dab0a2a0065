"""The vocabulary and the weights of a fitted vectorizer."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.model.texts import Text, as_texts
from labeltree.text.scripts import warn_of_unspaced
from labeltree.text.settings import NORMS, TextSettings
from labeltree.text.terms import Terms, unpack_terms
from labeltree.text.tokenizers import OwnWords, allow_import
from labeltree.validation import LARGEST_INTEGER
from labeltree.wording import count_text

#: A column, and the begin and end of one of its terms in a text.
Span: TypeAlias = tuple[int, int, int]

#: The names of the stored arrays of terms: those of the analyzer, and those of characters in addition to words.
_STORED_TERMS = (("text", "text_begin"), ("char_text", "char_text_begin"))


class TextFeatures:
    """The columns of terms, and their weights. It never changes, so threads may share it.

    Parameters
    ----------
    settings : TextSettings
    terms : sequence of pairs of arrays
        The terms in the order of their columns: a pair for words, and one for characters in addition to words. Empty
        if all terms are hashed; only single words if longer terms are hashed into buckets.
    idf : array of float64, optional
        The factor of each column.
    """

    def __init__(
        self,
        settings: TextSettings,
        terms: Sequence[Terms] = (),
        idf: NDArray[np.float64] | None = None,
    ) -> None:
        self.settings, self.terms, self.idf = settings, terms, idf
        self._own_words = settings.own_words()
        self._parts = settings.parts(terms)
        self.n_columns = sum(len(begin) - 1 for _, begin in terms) + settings.n_hashed
        if self.n_columns > LARGEST_INTEGER:
            raise ValueError(f"expected at most {LARGEST_INTEGER:,} terms, got {self.n_columns:,}")
        if idf is not None and idf.shape != (self.n_columns,):
            raise ValueError(f"expected {self.n_columns} numbers of idf, got the shape {idf.shape}")
        if idf is not None and not (np.isfinite(idf) & (idf > 0)).all():
            raise ValueError("the numbers of idf must be finite and above 0")
        self._reader = _native.TextReader(
            self._parts, settings.binary, settings.sublinear_tf, NORMS[settings.norm], idf, self.n_columns
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.settings, self.terms, self.idf)

    def transform(self, texts: Iterable[Text], n_threads: int) -> sp.csr_matrix:
        """Return the rows of texts."""
        return self._matrix(*self.read(texts, n_threads).arrays)

    def read(
        self,
        texts: Iterable[Text],
        n_threads: int,
        normalize: bool = False,
        dense_features: tuple[int, int] = (0, 0),
    ) -> _native.FeatureMatrix:
        """Return the rows of texts as the kernel reads them: no matrix is made that it would have to check."""
        given = _for_kernel(texts, self.settings, self._own_words)
        return self._reader.read(*given, normalize, dense_features, n_threads)

    def rows(self, counter: _native.TextCounter) -> sp.csr_matrix:
        """Return the rows of all texts that were counted."""
        settings = self.settings
        return self._matrix(*counter.rows(settings.sublinear_tf, NORMS[settings.norm], self.idf))

    def _matrix(self, indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any]) -> sp.csr_matrix:
        index_type = np.int32 if indptr[-1] <= LARGEST_INTEGER else np.int64
        rows = sp.csr_matrix(
            (data, indices.astype(index_type, copy=False), indptr.astype(index_type, copy=False)),
            shape=(len(indptr) - 1, self.n_columns),
        )
        rows.has_canonical_format = True  # the kernel sorts columns: SciPy need not check
        return rows

    def spans(self, text: str) -> list[Span]:
        """Return column, begin and end of every known term, as positions in the original text."""
        given = text if self._own_words is None else self._own_words.joined(text)
        spans = _native.text_spans(self._parts, given, *self.settings.characters(), self.settings.stems())
        if self._own_words is not None:
            spans = self._own_words.places(text, spans)
        if self.settings.strip_accents is None or text.isascii():
            return spans
        # Accents that were removed belong to the letter before them.
        ends = np.arange(len(text) + 1)
        for at in range(len(text) - 1, -1, -1):
            if unicodedata.combining(text[at]):
                ends[at] = ends[at + 1]
        return [(column, begin, int(ends[end])) for column, begin, end in spans]

    def pieces(self, text: Text) -> dict[str | None, str]:
        """Return the texts of the fields that a mapping has by name, or a string with None as its name."""
        if isinstance(text, str):
            return {None: text}
        if self.settings.fields is None or not isinstance(text, Mapping):
            expected = "a string" if self.settings.fields is None else "a string or a mapping of fields"
            raise ValueError(f"expected {expected}, got {type(text).__name__}")
        return {name: text[name] or "" for name in self.settings.fields if text.get(name)}

    @property
    def n_words(self) -> int:
        """The number of columns of words: the first ones. If all terms are hashed, there are none."""
        return len(self.terms[0][1]) - 1 if self.terms else 0

    def names(self) -> NDArray[np.object_]:
        """Return the terms by column, or names of hashed columns.

        N-grams of `char_ngram_range` have the prefix ``char:``, which no word of letters has.
        """
        prefix = "textvectorizer" if self.settings.n_features is not None else "bucket:"
        hashed = [f"{prefix}{i}" for i in range(self.settings.n_hashed)]
        return np.array(self.term_names() + hashed, dtype=object)

    def term_names(self) -> list[str]:
        """Return the names of the columns of vocabularies, which come before hashed columns."""
        prefixes = ("", "char:")
        return [
            prefix + term
            for prefix, terms in zip(prefixes, self.terms, strict=False)
            for term in unpack_terms(terms)
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `from_arrays` needs in addition to the settings."""
        arrays: dict[str, NDArray[Any]] = {}
        for names, terms in zip(_STORED_TERMS, self.terms, strict=False):
            arrays.update(zip(names, terms, strict=True))
        return arrays if self.idf is None else {**arrays, "idf": self.idf}

    @classmethod
    def from_arrays(cls, settings: TextSettings, arrays: Mapping[str, Any]) -> TextFeatures:
        """Return stored features; raise `ValueError` if arrays are missing, unknown or not valid."""
        stored = _STORED_TERMS[: settings.n_vocabularies]
        expected = [name for names in stored for name in names] + ["idf"] * settings.use_idf
        if set(arrays) != set(expected):
            raise ValueError(f"expected the arrays {expected}, got {sorted(map(str, arrays))}")
        terms = [
            (_stored(arrays, text, np.uint8), _stored(arrays, begin, np.int64)) for text, begin in stored
        ]
        return cls(settings, terms, _stored(arrays, "idf", np.float64) if settings.use_idf else None)


def learn_features(
    settings: TextSettings, texts: Iterable[Text], keep_rows: bool, n_threads: int
) -> tuple[TextFeatures, _native.TextCounter]:
    """Learn the terms of texts and their weights; with `keep_rows` the counter also has the rows of the texts."""
    count_texts = settings.n_hashed > 0 and settings.use_idf
    counter = _native.TextCounter(settings.new_parts(), settings.binary, keep_rows, count_texts, n_threads)
    if settings.analyzer == "word" and settings.char_ngram_range is None and settings.tokenizer is None:
        texts = warn_of_unspaced(as_texts(texts))
    counter.add(*_for_kernel(texts, settings, settings.own_words()))
    vocabularies = range(settings.n_vocabularies)
    chosen = [_choose_terms(counter, part, settings) for part in vocabularies]
    terms: list[Terms] = [counter.terms(part) for part in vocabularies]
    idf = None
    if settings.use_idf:
        n_texts = np.concatenate([*chosen, counter.hashed_texts()])
        smooth = float(settings.smooth_idf)
        idf = np.log((counter.n_texts + smooth) / (n_texts + smooth)) + 1
    return TextFeatures(settings, terms, idf), counter


def _for_kernel(
    texts: Iterable[Text], settings: TextSettings, own_words: OwnWords | None
) -> tuple[Any, Any, Any, Any, Any]:
    """Return texts as the kernel splits them, and what it needs to know: characters, fields and stems."""
    texts = as_texts(texts)
    if own_words is not None:
        texts = own_words.split(texts)
    return texts, *settings.characters(), settings.fields, settings.stems()


def _unpickled(settings: TextSettings, *learned: Any) -> TextFeatures:
    if settings.tokenizer is not None:
        allow_import(settings.tokenizer)  # a pickle can call any function as it is
    return TextFeatures(settings, *learned)


def _choose_terms(counter: _native.TextCounter, part: int, settings: TextSettings) -> NDArray[np.int64]:
    """Keep the terms that the settings allow, and return the number of texts with each."""
    if counter.n_texts == 0:
        raise ValueError("there are no texts to learn from: pass at least one")
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
        # The same call as in scikit-learn, because it decides between equally frequent terms.
        keep = np.zeros(len(n_texts), dtype=np.uint8)
        keep[(-frequency).argsort()[: settings.max_features]] = 1
        counter.select(part, keep)
        n_texts = n_texts[keep.astype(bool)]
    if len(n_texts) == 0:
        raise ValueError(
            f"no terms are left of {count_text(counter.n_texts, 'text')}: they have none, or stop_words, "
            "min_df and max_df allow none"
        )
    return n_texts


def _stored(arrays: Mapping[str, Any], name: str, dtype: type[np.generic]) -> NDArray[Any]:
    array = arrays[name]
    is_array = isinstance(array, np.ndarray)
    if not is_array or array.dtype != dtype or array.ndim != 1:
        found = f"{array.dtype} of shape {array.shape}" if is_array else type(array).__name__
        raise ValueError(f"expected {name} as a 1-d array of {np.dtype(dtype)}, got {found}")
    return np.require(array, requirements=["C", "A"])

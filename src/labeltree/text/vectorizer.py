"""Texts as sparse rows of their words, n-grams of words or n-grams of characters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from labeltree import scikit_learn
from labeltree import sparse as sp
from labeltree.model.texts import Text
from labeltree.text.features import Span, TextFeatures, learn_features
from labeltree.text.languages import stemmer_of, stored_stemmer
from labeltree.text.settings import TextSettings
from labeltree.text.tokenizers import allow_import
from labeltree.validation import Number, check_parameters, n_threads
from labeltree.wording import with_article

if TYPE_CHECKING:
    from sklearn.utils import Tags

_CONSTRAINTS = {"n_jobs": Number(integer=True, optional=True)}


@dataclass(eq=False, repr=False)
class TextVectorizer(scikit_learn.TransformerMixin, scikit_learn.BaseEstimator):
    """Convert texts to sparse rows of tf-idf weights, or of hashed counts.

    The parameters are those of scikit-learn's ``TfidfVectorizer``. Equal parameters give the same columns in the same
    order and the same values, as float32. With `n_features` it is a ``HashingVectorizer``. The compiled kernel splits
    and counts texts, in parallel with `n_jobs`.

    Parameters
    ----------
    analyzer : {"word", "whitespace", "char", "char_wb"}
        The units of terms: words of two or more letters, digits or underscores; words of any characters, separated by
        white space; characters; or characters within words, with a space before and after each word.
    ngram_range : (int, int)
        Number of words in a term: the minimum and the maximum, at most 100. (1, 2) adds pairs of words. If `analyzer`
        sets characters, it is their number.
    char_ngram_range : (int, int), optional
        Add n-grams of characters within words, as with ``analyzer="char_wb"``, in columns after those of the words.
        `min_df`, `max_df`, `max_features` and `n_features` apply to words and to characters separately, `norm` to the
        whole row. With `buckets`, they are hashed.
    lowercase : bool
        Convert texts to lower case first.
    strip_accents : {"unicode", "ascii"}, optional
        Remove accents, by Unicode's compatibility decomposition; ``"ascii"`` also removes all other characters that
        are not ASCII.
    stop_words : "english", another language, or collection of str, optional
        Words to remove, before words are stemmed and n-grams are made. Lists of other languages than English, such as
        "german", come from the package stop-words, in the extra ``stem``.
    min_df : int or float
        The minimum number of texts with a term; a float is a share of the texts. Rarer terms are ignored.
    max_df : int or float
        The maximum number of texts with a term; a float is a share of the texts. More frequent terms are ignored.
    max_features : int, optional
        The maximum number of terms. The most frequent ones are kept.
    binary : bool
        Count a term once per text, or once per field of a text.
    use_idf : bool
        Give rare terms more weight: log(n / df) + 1 for a term in df of n texts.
    smooth_idf : bool
        Add 1 to n and df in the formula of `use_idf`, as if one more text had every term.
    sublinear_tf : bool
        Replace the count n of a term by log(n) + 1. A count below 1, which a small weight of a field can give, stays.
    norm : {"l2", "l1"}, optional
        Divide rows by this norm.
    n_features : int, optional
        Hash terms into this number of columns instead of learning a vocabulary. With ``use_idf=False`` nothing is
        learned, and `transform` works without `fit`.
    fields : dict of str to float, optional
        The fields of texts and their weights, such as ``{"title": 2.0, "abstract": 1.0}``. A text may then be a
        mapping of fields to strings. The count of a term is the sum of its counts in the fields, each times the weight
        of the field. A string is a text of weight 1.
    stemmer : str, optional
        The language of a Snowball stemmer, such as "german", which replaces words by stems. Needs the extra ``stem``.
    tokenizer : callable or str, optional
        A function that takes a text and returns the list of its words, or its name as in "mypackage.module:function".
        `lowercase` and `strip_accents` apply first. It is saved by its name, and `load` refuses it unless it is
        allowed: see `labeltree.text.allow_import`.
    buckets : int, optional
        Hash n-grams of two or more words and n-grams of characters into this number of columns, after those of single
        words, as fastText does. Set it to limit the memory for n-grams. `min_df`, `max_df` and `max_features` then
        choose single words only. All n-grams in a bucket count as one term, which has its own idf.
    n_jobs : int, optional
        The number of threads, as in scikit-learn: None is 1, -1 one per processor. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of every term that is not hashed, as `get_feature_names_out` names it; only without `n_features`.
    idf_ : array of float64, or None
        The factor of each column.

    Examples
    --------
    >>> from labeltree.text import TextVectorizer
    >>> vectorizer = TextVectorizer().fit(["A boat on the sea", "the old sea"])
    >>> vectorizer.get_feature_names_out()
    array(['boat', 'old', 'on', 'sea', 'the'], dtype=object)
    >>> vectorizer.transform(["Sea, sea and sky"]).toarray()
    array([[0., 0., 0., 1., 0.]], dtype=float32)
    >>> vectorizer.spans("Old SEA!")
    [(1, 0, 3), (3, 4, 7)]
    """

    _: KW_ONLY
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    char_ngram_range: tuple[int, int] | None = None
    lowercase: bool = True
    strip_accents: str | None = None
    stop_words: str | Collection[str] | None = None
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    binary: bool = False
    use_idf: bool = True
    smooth_idf: bool = True
    sublinear_tf: bool = False
    norm: str | None = "l2"
    n_features: int | None = None
    fields: Mapping[str, float] | None = None
    stemmer: str | None = None
    tokenizer: Callable[[str], Sequence[str]] | str | None = None
    buckets: int | None = None
    n_jobs: int | None = None

    def fit(self, texts: Iterable[Text], y: Any = None) -> TextVectorizer:
        """Learn the vocabulary and the weights of terms.

        Parameters
        ----------
        texts : iterable of str, or of mappings of fields to str
            A field that is missing or None is empty. Keys that are not among `fields` are ignored.
        y : ignored
        """
        self._features, _ = learn_features(self._new_settings(), texts, False, self._n_threads())
        return self

    def fit_transform(self, texts: Iterable[Text], y: Any = None) -> sp.csr_matrix:
        """Learn from texts and return their rows, as `fit` followed by `transform`.

        Returns
        -------
        CSR matrix of float32 of shape (texts, columns)
        """
        self._features, counter = learn_features(self._new_settings(), texts, True, self._n_threads())
        return self._features.rows(counter)

    def transform(self, texts: Iterable[Text]) -> sp.csr_matrix:
        """Return the rows of texts. Unknown terms are ignored; a text without known terms is an empty row.

        Returns
        -------
        CSR matrix of float32 of shape (texts, columns)
        """
        return self.features.transform(texts, self._n_threads())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the terms by column.

        Terms of `char_ngram_range` have the prefix ``char:``. Hashed columns have names such as ``textvectorizer0``,
        those of `buckets` names such as ``bucket:0``.
        """
        return self.features.names()

    @overload
    def spans(self, text: str) -> list[Span]: ...

    @overload
    def spans(self, text: Mapping[str, str | None]) -> dict[str, list[Span]]: ...

    def spans(self, text: Text) -> list[Span] | dict[str, list[Span]]:
        """Return the places of known terms in a text.

        Returns
        -------
        list of (column, begin, end)
            For every occurrence of a known term, ``text[begin:end]`` is its original, before lower case and the
            removal of accents. In the order of the text; spans may overlap. If the text is a mapping, a dict with the
            list of each field that is not empty.
        """
        features = self.features
        if isinstance(text, str):
            return features.spans(text)
        return {str(name): features.spans(piece) for name, piece in features.pieces(text).items()}

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the parameters as JSON values, and what was learned as arrays.

        Examples
        --------
        >>> from labeltree.text import TextVectorizer
        >>> settings, arrays = TextVectorizer().fit(["sea", "old sea"]).state()
        >>> sorted(arrays)
        ['idf', 'text', 'text_begin']
        >>> TextVectorizer.from_state(settings, arrays).get_feature_names_out()
        array(['old', 'sea'], dtype=object)
        """
        features = self.features
        n_jobs = None if self.n_jobs is None else int(self.n_jobs)
        settings = features.settings.as_json()
        if "stemmer" in settings:
            settings["stemmer"] = stored_stemmer(settings["stemmer"])
        return {**settings, "n_jobs": n_jobs}, features.arrays()

    def has_columns_of(self, other: TextVectorizer) -> bool:
        """Return whether another vectorizer turns every text into the same row."""
        if self is other:
            return True
        (settings, arrays), (others, other_arrays) = self.state(), other.state()
        if {**settings, "n_jobs": None} != {**others, "n_jobs": None} or arrays.keys() != other_arrays.keys():
            return False
        return all(np.array_equal(values, other_arrays[name]) for name, values in arrays.items())

    @classmethod
    def from_state(cls, settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> TextVectorizer:
        """Return the vectorizer of a `state`.

        All settings and arrays are checked: `ValueError` if one is not valid. Arrays are not copied, and may be
        read-only.
        """
        if not isinstance(settings, Mapping):
            raise ValueError(f"expected the parameters of {with_article(cls.__name__)}, got {settings!r}")
        if unknown := settings.keys() - cls().get_params().keys():
            raise ValueError(
                f"expected the parameters of {with_article(cls.__name__)}, got also {sorted(map(str, unknown))}"
            )
        parameters: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in settings.items()}
        if "stemmer" in parameters:
            parameters["stemmer"] = stemmer_of(parameters["stemmer"])
        vectorizer = cls(**parameters)
        check_parameters(vectorizer, _CONSTRAINTS)
        vectorizer._features = TextFeatures.from_arrays(vectorizer._settings(), arrays)
        return vectorizer

    @property
    def n_features_out(self) -> int:
        """The number of columns."""
        return self.features.n_columns

    @property
    def vocabulary_(self) -> dict[str, int]:
        if self.n_features is not None:
            raise AttributeError("hashed features have no vocabulary")
        return {name: column for column, name in enumerate(self.features.term_names())}

    @property
    def idf_(self) -> NDArray[np.float64] | None:
        return self.features.idf

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_features")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_features is None or bool(self.use_idf)
        return tags

    def check_parameters(self) -> None:
        """Raise `ValueError` unless all parameters are valid."""
        self._settings()
        self._n_threads()

    def _new_settings(self) -> TextSettings:
        """Return the settings for `fit`. Whoever calls it with a tokenizer wants this one to be imported."""
        settings = self._settings()
        if settings.tokenizer is not None:
            allow_import(settings.tokenizer)
        return settings

    def _settings(self) -> TextSettings:
        return TextSettings.checked(type(self).__name__, self.get_params())

    def _n_threads(self) -> int:
        check_parameters(self, _CONSTRAINTS)
        return n_threads(self.n_jobs)

    @property
    def features(self) -> TextFeatures:
        """The columns and their weights. They follow from the parameters if there is nothing to learn."""
        if not hasattr(self, "_features"):
            settings = self._new_settings()
            if not settings.needs_fit:
                return TextFeatures(settings)
            scikit_learn.check_is_fitted(self)
        return self._features

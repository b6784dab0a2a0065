"""Texts as sparse rows of their words, sequences of words or of characters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from labeltree.text.features import TextFeatures, learn_features
from labeltree.text.settings import TextSettings
from labeltree.validation import Number, check_parameters, n_threads

_CONSTRAINTS = {"n_jobs": Number(integer=True, optional=True)}


class TextVectorizer(TransformerMixin, BaseEstimator):
    """Texts as sparse rows of tf-idf weights, or of hashed counts.

    The parameters are those of scikit-learn's ``TfidfVectorizer`` and mean the same; the same settings give the same
    columns in the same order and the same values, as float32. With `n_features` it is a ``HashingVectorizer``. Texts
    are split and counted by the compiled kernel, in parallel with `n_jobs`.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}
        What terms are made of: words of two or more letters, digits or underscores; characters; or characters within
        words that have a space before and after.
    ngram_range : (int, int)
        Terms are sequences of so many words or characters: of the smallest to the largest number.
    char_ngram_range : (int, int), optional
        Also sequences of so many characters within words, as of ``analyzer="char_wb"``, in columns after those of the
        words. `min_df`, `max_df`, `max_features` and `n_features` apply to words and to characters alone, `norm` to
        the whole row.
    lowercase : bool
        Make texts lower case first.
    strip_accents : {"unicode", "ascii"}, optional
        Take accents away, by Unicode's compatible decomposition; ``"ascii"`` also takes away what is not ASCII then.
    stop_words : "english" or collection of str, optional
        Words to leave out, before words are joined.
    min_df, max_df : int or float
        Only terms that at least, or at most, so many texts have; a float is a share of the texts.
    max_features : int, optional
        Only so many terms, those that come most often.
    binary : bool
        Whether a text has a term rather than how often.
    use_idf, smooth_idf : bool
        Weigh terms by how rare they are: log(n / df) + 1 for a term that df of n texts have; smooth as if one more
        text had every term.
    sublinear_tf : bool
        A term that comes n times counts log(n) + 1.
    norm : {"l2", "l1"}, optional
        Divide rows by their norm.
    n_features : int, optional
        Hash terms into so many columns instead of learning a vocabulary. With ``use_idf=False`` nothing is learned, and
        `transform` works without `fit`; with idf, columns are weighed by how many texts have them.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 one per processor. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of every term, as `get_feature_names_out` names it; only without `n_features`.
    idf_ : array of float64, or None
        What columns are multiplied by.

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

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        char_ngram_range: tuple[int, int] | None = None,
        lowercase: bool = True,
        strip_accents: str | None = None,
        stop_words: str | Collection[str] | None = None,
        min_df: int | float = 1,
        max_df: int | float = 1.0,
        max_features: int | None = None,
        binary: bool = False,
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        norm: str | None = "l2",
        n_features: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.char_ngram_range = char_ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.binary = binary
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.norm = norm
        self.n_features = n_features
        self.n_jobs = n_jobs

    def fit(self, texts: Iterable[str], y: Any = None) -> TextVectorizer:
        """Learn the vocabulary and the weights of terms.

        Parameters
        ----------
        texts : iterable of str
        y : ignored
        """
        self._features, _ = learn_features(self._settings(), texts, False, self._n_threads())
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> csr_matrix:
        """Learn from texts and return their rows, as `fit` and `transform` would.

        Returns
        -------
        CSR matrix of float32 of shape (texts, columns)
        """
        self._features, counter = learn_features(self._settings(), texts, True, self._n_threads())
        return self._features.rows(counter)

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """The rows of texts. Terms that `fit` did not keep are passed over; a text without any is an empty row.

        Returns
        -------
        CSR matrix of float32 of shape (texts, columns)
        """
        return self._fitted().transform(texts, self._n_threads())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms by column.

        Characters beside words (`char_ngram_range`) have ``char:`` before them. Hashed columns are called
        ``textvectorizer0`` and so on.
        """
        return self._fitted().names()

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """Where the features of a text are in it.

        Returns
        -------
        list of (column, begin, end)
            For every occurrence of a known term ``text[begin:end]`` is what it was made of, whatever lower case and
            accents made of that. In the order of the text; spans may overlap.
        """
        if not isinstance(text, str):
            raise ValueError(f"expected a string, got {type(text).__name__}")
        return self._fitted().spans(text)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a fitted vectorizer is: parameters that JSON can hold, and plain arrays.

        Examples
        --------
        >>> from labeltree.text import TextVectorizer
        >>> settings, arrays = TextVectorizer().fit(["sea", "old sea"]).state()
        >>> sorted(arrays)
        ['idf', 'text', 'text_begin']
        >>> TextVectorizer.from_state(settings, arrays).get_feature_names_out()
        array(['old', 'sea'], dtype=object)
        """
        features = self._fitted()
        n_jobs = None if self.n_jobs is None else int(self.n_jobs)
        return {**features.settings.as_json(), "n_jobs": n_jobs}, features.arrays()

    @classmethod
    def from_state(cls, settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> TextVectorizer:
        """The vectorizer that `state` was taken from.

        Nothing is believed: `ValueError` if settings or arrays are not what they must be. Arrays are used where they
        are, and may be read-only.
        """
        known = cls().get_params()
        if not isinstance(settings, Mapping) or not set(settings) <= set(known):
            unknown = (
                sorted(map(str, set(settings) - set(known))) if isinstance(settings, Mapping) else settings
            )
            raise ValueError(f"expected the parameters of a {cls.__name__}, got also {unknown!r}")
        parameters: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in settings.items()}
        vectorizer = cls(**parameters)
        check_parameters(vectorizer, _CONSTRAINTS)
        vectorizer._features = TextFeatures.from_arrays(vectorizer._settings(), arrays)
        return vectorizer

    @property
    def n_features_out(self) -> int:
        """The number of columns."""
        return self._fitted().n_columns

    @property
    def vocabulary_(self) -> dict[str, int]:
        if self.n_features is not None:
            raise AttributeError("hashed features have no vocabulary")
        return {name: column for column, name in enumerate(self._fitted().names())}

    @property
    def idf_(self) -> NDArray[np.float64] | None:
        return self._fitted().idf

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_features")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_features is None or bool(self.use_idf)
        return tags

    def _check_parameters(self) -> None:
        """Raise `ValueError` unless all parameters are what they must be."""
        self._settings()
        self._n_threads()

    def _settings(self) -> TextSettings:
        return TextSettings.checked(type(self).__name__, self.get_params())

    def _n_threads(self) -> int:
        check_parameters(self, _CONSTRAINTS)
        return n_threads(self.n_jobs)

    def _fitted(self) -> TextFeatures:
        """What was learned; where nothing is to be learned, what the parameters say."""
        if not hasattr(self, "_features"):
            settings = self._settings()
            if not settings.needs_fit:
                return TextFeatures(settings)
            check_is_fitted(self)
        return self._features

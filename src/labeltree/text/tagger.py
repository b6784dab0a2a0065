"""`Tagger`: texts in, names of labels out."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labeltree.classifier import LabelTreeClassifier
from labeltree.decisions import OFO
from labeltree.estimator import Estimator
from labeltree.metrics.names import Metric
from labeltree.model.top_labels import TopLabels
from labeltree.text.text_explanation import TextExplanation, explain_text
from labeltree.text.vectorizer import TextVectorizer

_Tagger = TypeVar("_Tagger", bound="Tagger")


class Tag(NamedTuple):
    """A label of a text, and how probable it is."""

    label: Any
    probability: float


class Tagger(BaseEstimator):
    """Tags texts with a few labels out of very many.

    What makes features of texts and what tells labels from features, in one: trained together, saved together.

    Parameters
    ----------
    classifier : classifier of this library, optional
        By default `LabelTreeClassifier()`. Any that is trained on matrices.
    vectorizer : TextVectorizer, optional
        By default `TextVectorizer()`: words, weighted by tf-idf.

    Attributes
    ----------
    classifier_, vectorizer_
        The trained ones.
    classes_ : array of shape (n_labels,)
        The labels.

    Examples
    --------
    >>> from labeltree.text import Tagger
    >>> texts = ["a boat on the sea", "boats and the sea", "a cat on a mat", "the cat sat"]
    >>> tagger = Tagger().fit(texts, [["sea", "boat"], ["sea"], ["cat"], ["cat"]])
    >>> [tag.label for tag in tagger.tag("the sea, the sea", k=1)]
    ['sea']
    """

    def __init__(self, classifier: Any = None, vectorizer: TextVectorizer | None = None) -> None:
        self.classifier = classifier
        self.vectorizer = vectorizer

    classifier_: Any
    vectorizer_: TextVectorizer

    def fit(
        self: _Tagger, texts: Sequence[str], labels: Sequence[Collection[Any]], sample_weight: Any = None
    ) -> _Tagger:
        """Train on texts with their labels.

        Parameters
        ----------
        texts : sequence of str
        labels : sequence of collections of labels
            One collection for each text; labels are strings, or anything hashable. Or a matrix, or one label for each
            text, as for `LabelTreeClassifier.fit`.
        sample_weight : array of shape (n_texts,), optional
            How much each text counts, 1 by default.
        """
        classifier = LabelTreeClassifier() if self.classifier is None else clone(self.classifier)
        if not isinstance(classifier, Estimator) or hasattr(classifier, "partial_fit"):
            raise ValueError(
                "classifier must be one of this library's that is trained on matrices, such as "
                f"LabelTreeClassifier(); got {type(classifier).__name__}"
            )
        vectorizer = TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        X = vectorizer.fit_transform(texts)
        fitted: Any = classifier
        fitted.fit(X, labels, sample_weight)
        fitted.vectorizer_ = vectorizer
        self.vectorizer_, self.classifier_ = vectorizer, fitted
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        check_is_fitted(self, "classifier_")
        classes: NDArray[Any] = self.classifier_.classes_
        return classes

    def tag(self, text: str | Sequence[str], k: int = 5, threshold: float = 0.0) -> Any:
        """The most probable labels of a text, best first; of several texts a list of them for each.

        Parameters
        ----------
        text : str or sequence of str
        k : int
            At most so many labels.
        threshold : float
            Labels with a smaller probability are left out.
        """
        texts = [text] if isinstance(text, str) else text
        top = self.predict_topk(texts, k, threshold=threshold)
        tags = [
            [Tag(*pair) for pair in zip(*row, strict=True) if pair[1] > 0]
            for row in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
        ]
        return tags[0] if isinstance(text, str) else tags

    def predict_topk(self, texts: Sequence[str], k: int = 5, **options: Any) -> TopLabels:
        """The k most probable labels of every text; options are those of the classifier's `predict_topk`."""
        X = self._features(texts)
        found: TopLabels = self.classifier_.predict_topk(X, k, **options)
        return found

    def predict(self, texts: Sequence[str]) -> Any:
        """The labels of every text: by `decide_for` if that was called, else those of probability 0.5 or more."""
        X = self._features(texts)
        return self.classifier_.predict(X)

    def predict_proba(self, texts: Sequence[str], **options: Any) -> Any:
        """Probabilities of the most probable labels; options are those of the classifier's `predict_proba`."""
        X = self._features(texts)
        return self.classifier_.predict_proba(X, **options)

    def decide_for(
        self: _Tagger,
        metric: str | Metric,
        texts: Sequence[str] | None = None,
        labels: Any = None,
        *,
        method: str | OFO = "auto",
        floor: float = 0.01,
    ) -> _Tagger:
        """Let `predict` give the labels that make a metric largest: as `LabelTreeClassifier.decide_for`."""
        check_is_fitted(self, "classifier_")
        rows = () if texts is None else (self._features(texts), labels)
        self.classifier_.decide_for(metric, *rows, method=method, floor=floor)
        return self

    def explain(self, text: str, label: Any, *, n_features: int = 10) -> TextExplanation:
        """Why a text gets a label: its path through the tree, and the words that weighed most at every node.

        Examples
        --------
        >>> from labeltree.text import Tagger
        >>> tagger = Tagger().fit(["a boat at sea", "a cat", "the sea", "cats"], [["sea"], ["cat"], ["sea"], ["cat"]])
        >>> text = "At the SEA"
        >>> best = max(tagger.explain(text, "sea").highlights, key=lambda highlight: highlight.amount)
        >>> text[best.begin : best.end]
        'SEA'
        """
        if not isinstance(text, str):
            raise ValueError(f"text must be a string, got a {type(text).__name__}: explain one at a time")
        check_is_fitted(self, "classifier_")
        return explain_text(self.classifier_, self.vectorizer_, text, label, n_features)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the whole tagger to a directory, atomically; options are those of the classifier's `save`."""
        check_is_fitted(self, "classifier_")
        self.classifier_.save(path, **options)

    @classmethod
    def load(cls: type[_Tagger], path: str | os.PathLike[str], *, verify: bool = False) -> _Tagger:
        """Open a saved tagger.

        Raises
        ------
        ModelFileError
            If there is none, or a model that was trained on numbers and not on texts.
        """
        from labeltree.errors import ModelFileError
        from labeltree.model_file import load

        classifier: Any = load(path, verify)
        if classifier.model_.vectorizer is None:
            raise ModelFileError(
                f"{path}: this model was trained on numbers, not on texts; open it with "
                f"{type(classifier).__name__}.load"
            )
        tagger = cls(clone(classifier), clone(classifier.vectorizer_))
        tagger.classifier_, tagger.vectorizer_ = classifier, classifier.vectorizer_
        return tagger

    def _features(self, texts: Sequence[str]) -> Any:
        check_is_fitted(self, "classifier_")
        if isinstance(texts, str):
            raise ValueError("texts must be a sequence of strings, got one string: put it into a list")
        return self.vectorizer_.transform(texts)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

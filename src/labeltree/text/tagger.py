"""`Tagger`: labels for texts."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labeltree.classifier import LabelTreeClassifier
from labeltree.estimator import Estimator
from labeltree.metrics.names import Metric
from labeltree.model.top_labels import TopLabels
from labeltree.text.text_explanation import TextExplanation, explain_text
from labeltree.text.vectorizer import TextVectorizer

_Tagger = TypeVar("_Tagger", bound="Tagger")


class Tag(NamedTuple):
    """A label of a text, and its probability."""

    label: Any
    probability: float


class Tagger(BaseEstimator):
    """Tags texts with a few labels out of very many.

    A vectorizer and a classifier in one, which are trained together and saved together.

    Parameters
    ----------
    classifier : classifier of this library, optional
        Any classifier of this library except online ones. By default `LabelTreeClassifier()`.
    vectorizer : TextVectorizer, optional
        By default `TextVectorizer()`: words, weighted by tf-idf.

    Attributes
    ----------
    classifier_, vectorizer_
        The trained classifier and vectorizer.
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
            One collection for each text; labels are strings, or anything hashable. A matrix, or one label for each
            text, is also accepted, as in `LabelTreeClassifier.fit`.
        sample_weight : array of shape (n_texts,), optional
            The weight of each text, 1 by default.
        """
        classifier = LabelTreeClassifier() if self.classifier is None else clone(self.classifier)
        if not isinstance(classifier, Estimator) or hasattr(classifier, "partial_fit"):
            raise ValueError(
                "classifier must be one of this library's that is trained on matrices, such as "
                f"LabelTreeClassifier(); got {type(classifier).__name__}"
            )
        vectorizer = TextVectorizer() if self.vectorizer is None else clone(self.vectorizer)
        fitted: Any = classifier
        fitted.fit(vectorizer.fit_transform(texts), labels, sample_weight)
        fitted.vectorizer_ = vectorizer
        self.vectorizer_, self.classifier_ = vectorizer, fitted
        return self

    @property
    def classes_(self) -> Any:
        """The labels."""
        check_is_fitted(self)
        return self.classifier_.classes_

    @property
    def label_names_(self) -> Mapping[Any, str] | None:
        """Readable names by label, as `LabelTreeClassifier.label_names_`; None if there are none."""
        check_is_fitted(self)
        names: Mapping[Any, str] | None = self.classifier_.label_names_
        return names

    @label_names_.setter
    def label_names_(self, names: Mapping[Any, str] | None) -> None:
        check_is_fitted(self)
        self.classifier_.label_names_ = names

    def tag(self, text: str | Sequence[str], k: int = 5, threshold: float = 0.0) -> Any:
        """Return the most probable labels of a text, best first; for several texts, a list for each.

        Parameters
        ----------
        text : str or sequence of str
        k : int
            The maximum number of labels.
        threshold : float
            The minimum probability of a label.
        """
        is_one = isinstance(text, str | Mapping)
        texts: Any = [text] if is_one else text
        top = self.predict_topk(texts, k, threshold=threshold)
        tags = [
            [Tag(*pair) for pair in zip(*row, strict=True) if pair[1] > 0]
            for row in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
        ]
        return tags[0] if is_one else tags

    def predict_topk(self, texts: Sequence[str], k: int = 5, **options: Any) -> TopLabels:
        """Return the k most probable labels of every text; options are those of the classifier's `predict_topk`."""
        X = self._features(texts)  # which raises NotFittedError before the classifier is needed
        found: TopLabels = self.classifier_.predict_topk(X, k, **options)
        return found

    def predict(self, texts: Sequence[str]) -> Any:
        """Return the labels of every text: as set by `decide_for`, or with a probability of at least 0.5."""
        X = self._features(texts)
        return self.classifier_.predict(X)

    def predict_proba(self, texts: Sequence[str], **options: Any) -> Any:
        """Return the probabilities of the best labels; options are those of the classifier's `predict_proba`."""
        X = self._features(texts)
        return self.classifier_.predict_proba(X, **options)

    def decide_for(
        self: _Tagger,
        metric: str | Metric,
        texts: Sequence[str] | None = None,
        labels: Any = None,
        **options: Any,
    ) -> _Tagger:
        """Let `predict` maximise a metric; options are those of the classifier's `decide_for`."""
        check_is_fitted(self)
        rows = () if texts is None else (self._features(texts), labels)
        self.classifier_.decide_for(metric, *rows, **options)
        return self

    def explain(self, text: str, label: Any, *, n_features: int = 10) -> TextExplanation:
        """Explain a label of a text: its path through the tree, and the words with the most weight at every node.

        Examples
        --------
        >>> from labeltree.text import Tagger
        >>> tagger = Tagger().fit(["a boat at sea", "a cat", "the sea", "cats"], [["sea"], ["cat"], ["sea"], ["cat"]])
        >>> text = "At the SEA"
        >>> best = max(tagger.explain(text, "sea").highlights, key=lambda highlight: highlight.amount)
        >>> text[best.begin : best.end]
        'SEA'
        """
        if not isinstance(text, str | Mapping):
            raise ValueError(f"text must be a string, got a {type(text).__name__}: explain one at a time")
        check_is_fitted(self)
        return explain_text(self.classifier_, text, label, n_features)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the tagger to a directory, atomically; options are those of the classifier's `save`."""
        check_is_fitted(self)
        self.classifier_.save(path, **options)

    @classmethod
    def load(cls: type[_Tagger], path: str | os.PathLike[str], *, verify: bool = False) -> _Tagger:
        """Open a saved tagger.

        Raises
        ------
        ModelFileError
            If there is no model, or one that was trained on numbers and not on texts.
        """
        from labeltree.errors import ModelFileError
        from labeltree.model_file import load

        classifier: Any = load(path, verify)
        if classifier.model_.vectorizer is None:
            fault = (
                "is a mix of models"
                if classifier.model_.takes_text
                else "was trained on numbers, not on texts"
            )
            name = type(classifier).__name__
            raise ModelFileError(f"{path}: this model {fault}; open it with {name}.load")
        tagger = cls(clone(classifier), clone(classifier.vectorizer_))
        tagger.classifier_, tagger.vectorizer_ = classifier, classifier.vectorizer_
        return tagger

    def _features(self, texts: Sequence[str]) -> Any:
        check_is_fitted(self)
        if isinstance(texts, str):
            raise ValueError("texts must be a sequence of strings, got one string: put it into a list")
        return self.vectorizer_.transform(texts)

"""`TextLearner`: a classifier that will be trained on texts, with a vectorizer if it needs one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labeltree import scikit_learn
from labeltree.text.vectorizer import TextVectorizer


def reads_texts(classifier: Any) -> bool:
    """Return whether a classifier is trained on texts as they are, without a vectorizer."""
    return bool(getattr(classifier, "reads_texts", False))


@dataclass(frozen=True)
class TextLearner:
    """A classifier and its vectorizer, neither of them trained.

    Attributes
    ----------
    classifier : classifier of this library
    vectorizer : TextVectorizer, optional
        None for a classifier that reads texts by itself.
    """

    classifier: Any
    vectorizer: TextVectorizer | None

    def fit(
        self,
        texts: Any,
        labels: Any,
        sample_weight: Any = None,
        *,
        label_names: Mapping[Any, str] | None = None,
    ) -> Any:
        """Train a copy of the classifier on texts, and return it; it then reads texts."""
        classifier = scikit_learn.clone(self.classifier)
        if self.vectorizer is None:
            return classifier.fit(texts, labels, sample_weight, label_names=label_names)
        vectorizer = scikit_learn.clone(self.vectorizer)
        X = vectorizer.fit_transform(texts)
        classifier.fit(X, labels, sample_weight, **classifier.fit_arguments(vectorizer))
        classifier.vectorizer_ = vectorizer
        return classifier

    def with_checkpoint_in(self, name: str) -> TextLearner:
        """Return the learner with a checkpoint of its own, in a directory of this name inside the present one."""
        checkpoint = getattr(self.classifier, "checkpoint", None)
        if checkpoint is None:
            return self
        inside = os.path.join(os.fspath(checkpoint), name)
        return replace(self, classifier=scikit_learn.clone(self.classifier).set_params(checkpoint=inside))

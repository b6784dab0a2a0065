"""The checks of the parameters of a `Tagger`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from labeltree.estimator import Estimator
from labeltree.kinds import METHODS
from labeltree.text.text_learner import reads_texts
from labeltree.text.vectorizer import TextVectorizer
from labeltree.validation import Flag, Number, check_arguments
from labeltree.wording import with_article

if TYPE_CHECKING:
    from labeltree.text.tagger import Tagger

#: The method that an encoder needs.
ENCODER = "encoder"
#: The defaults of the parameters that only a mix uses.
_OF_A_MIX = {"holdout": 0.1, "refit": False}


def check_classifier(tagger: Tagger) -> None:
    """Raise `ValueError` unless the classifier can be trained on texts, and agrees with the method and the encoder."""
    classifier = tagger.classifier
    _check_method(tagger)
    if not isinstance(classifier, Estimator) or _is_tagger(classifier) or hasattr(classifier, "partial_fit"):
        raise ValueError(
            "classifier must be one of this library's that is trained on matrices, such as "
            f"LabelTreeClassifier(); got {type(classifier).__name__}"
        )
    own = getattr(classifier, "encoder", None)
    if tagger.encoder is not None and own and os.fspath(own) != os.fspath(tagger.encoder):
        raise ValueError(
            f"encoder={os.fspath(tagger.encoder)!r}, but the classifier has encoder={os.fspath(own)!r}: leave out "
            "one of them"
        )


def _check_method(tagger: Tagger) -> None:
    method = ENCODER if tagger.method is None and tagger.encoder is not None else tagger.method
    if method is None:
        return
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method != ENCODER and tagger.encoder is not None:
        raise ValueError(f"encoder is for method={ENCODER!r}, got also method={method!r}")
    expected = METHODS[method].load()
    if not isinstance(tagger.classifier, expected):
        given = f"method={method!r}" if tagger.method is not None else "encoder"
        raise ValueError(
            f"{given} trains {with_article(expected.__name__)}, got also classifier="
            f"{type(tagger.classifier).__name__}(): leave out one of them"
        )


def check_vectorizer(tagger: Tagger) -> None:
    """Raise `ValueError` unless the vectorizer is one that can be saved, or there is none and none is needed."""
    vectorizer: Any = tagger.vectorizer
    if reads_texts(tagger.classifier):
        if vectorizer is None:
            return
        if tagger.mix is None:
            raise ValueError(
                f"{type(tagger.classifier).__name__} reads texts without a vectorizer, got also "
                f"{with_article(type(vectorizer).__name__)}: leave it out, or add mix='linear', whose linear model "
                "needs one"
            )
    if not isinstance(vectorizer, TextVectorizer):
        raise ValueError(
            f"vectorizer must be a labeltree.text.TextVectorizer, which can be saved, got "
            f"{with_article(type(vectorizer).__name__)}; TextVectorizer has the parameters of "
            "scikit-learn's TfidfVectorizer. To "
            "train on the features of another vectorizer, fit a classifier on them"
        )
    vectorizer.check_parameters()


def check_mix(tagger: Tagger) -> None:
    """Raise `ValueError` unless the parameters of the mix are valid."""
    second: Any = tagger.mix
    given = {name: getattr(tagger, name) for name in _OF_A_MIX}
    if second is None:
        for name, value in given.items():
            if value != _OF_A_MIX[name]:
                raise ValueError(
                    f"{name}={value!r} is for a mix of two models: add mix='linear', or leave out {name}"
                )
        return
    if not _is_tagger(second) and not (isinstance(second, str) and second == "linear"):
        raise ValueError(f"mix must be 'linear', a Tagger or None, got {second!r}")
    if _is_tagger(second) and second.mix is not None:
        raise ValueError("mix is a tagger that is a mix itself: leave out its mix")
    for classifier in (tagger.classifier, second.classifier if _is_tagger(second) else None):
        if not getattr(classifier, "can_be_mixed", True):
            raise ValueError(
                f"{type(classifier).__name__} gives scores that are no probabilities: it cannot be mixed"
            )
    check_arguments("Tagger", given, {"holdout": Number(0, 1), "refit": Flag()})


def _is_tagger(value: Any) -> bool:
    from labeltree.text.tagger import Tagger

    return isinstance(value, Tagger)

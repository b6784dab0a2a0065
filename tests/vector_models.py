"""Models with word vectors that are trained in milliseconds."""

from __future__ import annotations

from typing import Any

from tests.small_models import small_data

from labeltree import ExtremeTextClassifier, FastTextClassifier

#: Parameters of small models, by name.
MODELS: dict[str, Any] = {
    "logistic": (ExtremeTextClassifier, {"arity": 2, "max_leaves": 3, "frequent_share": 0.0}),
    "softmax": (ExtremeTextClassifier, {"arity": 3, "max_leaves": 2, "loss": "softmax", "pooling": "mean"}),
    "flat": (ExtremeTextClassifier, {"tree": "flat", "bias": False}),
    "fasttext-softmax": (FastTextClassifier, {"loss": "softmax"}),
    "fasttext-hs": (FastTextClassifier, {"loss": "hs"}),
    "fasttext-ova": (FastTextClassifier, {"loss": "ova"}),
}
_QUICK: dict[type, dict[str, Any]] = {
    ExtremeTextClassifier: {"dimension": 6, "epochs": 60, "batch_size": 16, "dropout": 0.0},
    FastTextClassifier: {"dimension": 6, "epochs": 80, "learning_rate": 0.2},
}


def untrained(name: str, **parameters: Any) -> Any:
    """One of the models, not trained yet."""
    cls, own = MODELS[name]
    return cls(**{**_QUICK[cls], **own, "random_state": 0, **parameters})


def vector_model(name: str, **parameters: Any) -> Any:
    """One of the models, trained on `small_data`."""
    return untrained(name, **parameters).fit(*small_data())

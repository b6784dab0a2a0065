"""Checks of what `tune` is asked to search."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.base import clone

from labeltree.classifier import LabelTreeClassifier
from labeltree.text.vectorizer import TextVectorizer
from labeltree.trees.builders import BUILDERS
from labeltree.tuning.ranking_metric import RankingMetric
from labeltree.tuning.space import SEARCHED, TEXT_SEARCHED, SearchSpace
from labeltree.wording import with_article

#: Trees whose shape depends on `arity` and `max_leaves`.
_TREES = tuple(word for word, builder in sorted(BUILDERS.items()) if builder.needs >= {"arity", "max_leaves"})


def check_search(
    estimator: Any, space: SearchSpace, metric: str, vectorizer: TextVectorizer | None = None
) -> None:
    """Raise `ValueError` for a parameter, or a value to try, that `tune` does not support."""
    RankingMetric.parse(metric)
    _check_estimator(estimator)
    # The loss comes first, because it decides which values of other parameters are valid.
    _check_values(copy(estimator), space, SEARCHED)
    if vectorizer is not None:
        if not isinstance(vectorizer, TextVectorizer):
            raise ValueError(
                f"tune searches parameters of TextVectorizer, got {with_article(type(vectorizer).__name__)}"
            )
        _check_values(clone(vectorizer), space, TEXT_SEARCHED)


def _check_values(tried: Any, space: SearchSpace, names: tuple[str, ...]) -> None:
    for name in names:
        for value in reversed(getattr(space, name) or ()):
            tried.set_params(**{name: value}).check_parameters()


def _check_estimator(estimator: Any) -> None:
    """Refuse parameters that exclude the searched ones, or that need all labels, which samples do not have."""
    if not isinstance(estimator, LabelTreeClassifier):
        raise ValueError(
            "tune searches parameters of LabelTreeClassifier, alone or in a Tagger, got a "
            f"{type(estimator).__name__}"
        )
    if estimator.solver != "descent" or estimator.node_estimator is not None:
        raise ValueError(
            "tune searches C and loss, so solver must be 'descent' and node_estimator None, got "
            f"{estimator.solver!r} and {estimator.node_estimator!r}"
        )
    if not isinstance(estimator.tree, str) or estimator.tree not in _TREES:
        raise ValueError(
            f"tune searches the shape of trees, so tree must be one of {_TREES}, got {estimator.tree!r}"
        )
    if not isinstance(estimator.label_vectors, str) or estimator.label_weight not in (None, "propensity"):
        raise ValueError(
            "tune trains on samples that lack some labels: label_vectors must be a word and label_weight None or "
            f"'propensity', got {estimator.label_vectors!r} and {estimator.label_weight!r}"
        )
    if estimator.tree_weight is not None:
        raise ValueError("tune searches n_trees: leave tree_weight at None")

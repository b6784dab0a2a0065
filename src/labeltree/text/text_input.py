"""Texts in the form that a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def text_features(model: Any, texts: Sequence[str]) -> Any:
    """Return the features of texts for a model.

    Raises
    ------
    ValueError
        If the model was trained on numbers.

    Examples
    --------
    >>> from labeltree import OnlineLabelTreeClassifier
    >>> from labeltree.text.text_input import text_features
    >>> model = OnlineLabelTreeClassifier(random_state=0).partial_fit([{"boat": 1.0}], [["sea"]])
    >>> text_features(model, ["A boat, a boat"])
    [{'boat': 2.0}]
    """
    if not model.model_.takes_text:
        raise ValueError(
            "this model was trained on rows of numbers and does not take texts; train one on texts with "
            "labeltree.text.Tagger or 'labeltree train texts.jsonl'"
        )
    return model.model_.text_rows(texts)

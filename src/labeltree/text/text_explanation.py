"""Explanations of the labels of a text: the features, with their places in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from labeltree.model.explanation import Explanation, LabelStep, Step
from labeltree.model.texts import Text
from labeltree.text.text_learner import reads_texts
from labeltree.text.vectorizer import TextVectorizer


class Highlight(NamedTuple):
    """The part ``text[begin:end]``, and the amount that its feature adds to the scores on the path.

    If the text is a mapping of fields, the part is ``text[field][begin:end]``.
    """

    begin: int
    end: int
    amount: float
    field: str | None = None


_AnyStep = TypeVar("_AnyStep", Step, LabelStep)


@dataclass(frozen=True)
class TextExplanation(Explanation):
    """The path of a label, with words as features, and their places in the text.

    `highlights` are in the order of the fields and of their texts, and may overlap. An amount is the sum over the
    nodes of the path, averaged over the trees: a positive amount is evidence for the label, a negative one against it.
    An amount of a neural network is the difference that the part makes to the log-odds of the label.
    """

    highlights: Sequence[Highlight] = ()


def explain_text(model: Any, text: Text, label: Any, n_features: int) -> TextExplanation:
    """Explain a label of a text; each step keeps the `n_features` features with the most weight.

    A mix of models has the paths of all its members, and the weighted mean of their highlights. Amounts of linear
    members are parts of scores, those of neural networks are differences of log-odds. Both add evidence up on the scale
    of log-odds, so that they can be averaged.
    """
    members = getattr(model, "members_", None)
    if members is None:
        return _explain_alone(model, text, label, n_features)
    weights = np.array(model.weights_) / sum(model.weights_)
    parts = [_explain_alone(member, text, label, n_features) for member in members]
    amounts: dict[tuple[str | None, int, int], float] = defaultdict(float)
    for weight, part in zip(weights.tolist(), parts, strict=True):
        for begin, end, amount, field in part.highlights:
            amounts[field, begin, end] += weight * amount
    return TextExplanation(
        label,
        float(weights @ [part.probability for part in parts]),
        [path for part in parts for path in part.paths],
        _ordered([Highlight(begin, end, amount, field) for (field, begin, end), amount in amounts.items()]),
    )


def _ordered(highlights: list[Highlight]) -> list[Highlight]:
    """Return highlights in the order of their texts; fields stay in the order in which they first come."""
    fields = {field: i for i, field in enumerate(dict.fromkeys(h.field for h in highlights))}
    return sorted(highlights, key=lambda h: (fields[h.field], h.begin, h.end))


def _explain_alone(model: Any, text: Text, label: Any, n_features: int) -> TextExplanation:
    if reads_texts(model):
        explanation: TextExplanation = model.explain(text, label, n_features=n_features)
        return explanation
    vectorizer: TextVectorizer = model.vectorizer_
    x = vectorizer.transform([text])
    pieces = vectorizer.features.pieces(text)
    spans = {field: vectorizer.features.spans(piece) for field, piece in pieces.items()}
    names: dict[int, str] = {}
    for field, piece in pieces.items():
        for feature, begin, end in spans[field]:
            names.setdefault(feature, piece[begin:end])
    whole = model.explain(x, label, n_features=max(1, x.nnz))
    amounts = whole.amounts()

    def named(step: _AnyStep) -> _AnyStep:
        kept = step.contributions[:n_features]
        return replace(
            step, contributions=tuple(c._replace(feature=names.get(c.feature, c.feature)) for c in kept)
        )

    highlights = [
        Highlight(begin, end, amounts[at], field)
        for field, found in spans.items()
        for at, begin, end in found
        if amounts.get(at)
    ]
    return TextExplanation(
        whole.label,
        whole.probability,
        [[named(step) for step in path] for path in whole.paths],
        _ordered(highlights),
        classifier=None if whole.classifier is None else named(whole.classifier),
    )

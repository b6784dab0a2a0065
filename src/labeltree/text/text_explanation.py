"""Explanations of the labels of a text: the features, with their places in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from labeltree.model.explanation import Explanation, Step
from labeltree.text.vectorizer import TextVectorizer


class Highlight(NamedTuple):
    """The part ``text[begin:end]``, and the amount that its feature adds to the scores on the path."""

    begin: int
    end: int
    amount: float


@dataclass(frozen=True)
class TextExplanation(Explanation):
    """The path of a label, with words as features, and their places in the text.

    `highlights` are in the order of the text and may overlap. An amount is the sum over the nodes of the path, averaged
    over the trees: a positive amount is evidence for the label, a negative one against it.
    """

    highlights: Sequence[Highlight] = ()


def explain_text(model: Any, text: str, label: Any, n_features: int) -> TextExplanation:
    """Explain a label of a text; each step keeps the `n_features` features with the most weight.

    A mix of models has the paths of all its members, and the weighted mean of their highlights.
    """
    members = getattr(model, "members_", None)
    if members is None:
        return _explain_alone(model, text, label, n_features)
    weights = np.array(model.weights_) / sum(model.weights_)
    parts = [_explain_alone(member, text, label, n_features) for member in members]
    amounts: dict[tuple[int, int], float] = defaultdict(float)
    for weight, part in zip(weights.tolist(), parts, strict=True):
        for begin, end, amount in part.highlights:
            amounts[begin, end] += weight * amount
    return TextExplanation(
        label,
        float(weights @ [part.probability for part in parts]),
        [path for part in parts for path in part.paths],
        [Highlight(begin, end, amount) for (begin, end), amount in sorted(amounts.items())],
    )


def _explain_alone(model: Any, text: str, label: Any, n_features: int) -> TextExplanation:
    vectorizer: TextVectorizer = model.vectorizer_
    x = vectorizer.transform([text])
    spans = vectorizer.spans(text)
    names = {feature: text[begin:end] for feature, begin, end in reversed(spans)}
    whole = model.explain(x, label, n_features=max(1, x.nnz))
    amounts: dict[int, float] = defaultdict(float)
    for step in chain.from_iterable(whole.paths):
        for contribution in step.contributions:
            amounts[contribution.feature] += contribution.amount / len(whole.paths)

    def named(step: Step) -> Step:
        kept = step.contributions[:n_features]
        return replace(
            step, contributions=tuple(c._replace(feature=names.get(c.feature, c.feature)) for c in kept)
        )

    highlights = [Highlight(begin, end, amounts[at]) for at, begin, end in spans if amounts.get(at)]
    return TextExplanation(
        whole.label,
        whole.probability,
        [[named(step) for step in path] for path in whole.paths],
        sorted(highlights, key=lambda highlight: (highlight.begin, highlight.end)),
    )

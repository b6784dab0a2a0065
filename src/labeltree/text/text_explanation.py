"""Why a text got a label: the explanation of its features, with their places in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from labeltree.model.explanation import Explanation

if TYPE_CHECKING:
    from labeltree.questions import Questions
    from labeltree.text.vectorizer import TextVectorizer


class Highlight(NamedTuple):
    """A part of the text from `begin` to before `end`, and what its feature added to the scores on the path."""

    begin: int
    end: int
    amount: float


@dataclass(frozen=True)
class TextExplanation(Explanation):
    """The path of a label, with words as features, and where in the text they are.

    `highlights` are in the order of the text and may overlap. An amount is the sum over the nodes of the path, averaged
    over the trees: above 0 it speaks for the label, below 0 against it.
    """

    highlights: Sequence[Highlight] = ()


def explain_text(
    classifier: Questions, vectorizer: TextVectorizer, text: str, label: Any, n_features: int
) -> TextExplanation:
    """Explain a label of a text; each step keeps the `n_features` that weighed most."""
    x = vectorizer.transform([text])
    spans = vectorizer.spans(text)
    names = {feature: text[begin:end] for feature, begin, end in reversed(spans)}
    whole = classifier.explain(x, label, n_features=max(1, x.nnz))
    amounts: dict[int, float] = defaultdict(float)
    for path in whole.paths:
        for step in path:
            for contribution in step.contributions:
                amounts[contribution.feature] += contribution.amount / len(whole.paths)
    paths = [
        [
            replace(
                step,
                contributions=tuple(
                    c._replace(feature=names.get(c.feature, c.feature))
                    for c in step.contributions[:n_features]
                ),
            )
            for step in path
        ]
        for path in whole.paths
    ]
    highlights = [
        Highlight(begin, end, amounts[feature]) for feature, begin, end in spans if amounts.get(feature)
    ]
    return TextExplanation(
        whole.label, whole.probability, paths, sorted(highlights, key=lambda h: (h.begin, h.end))
    )

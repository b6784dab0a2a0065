"""Why a label was given: its path through the tree, and the features that weighed most at every step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from labeltree.wording import count_text

#: The names of features by number; None where features have none.
FeatureNames: TypeAlias = Sequence[Any] | NDArray[Any] | None


class Contribution(NamedTuple):
    """What one feature of the example added to a node's score: value times weight."""

    feature: Any
    value: float
    weight: float

    @property
    def amount(self) -> float:
        return self.value * self.weight


@dataclass(frozen=True)
class Step:
    """One node on the path: its probability given its parent's, and what made its score."""

    node: int
    n_labels: int
    score: float
    probability: float
    probability_so_far: float
    bias: float
    contributions: Sequence[Contribution]


@dataclass(frozen=True)
class LabelStep:
    """The classifier of the label itself, in a model with `rerank`: its probability, and what made its score.

    If the trees propose the label (`proposed`), this is the probability of the label. If not, the label has the
    probability that the trees give it, but at most that of the least probable proposal.
    """

    proposed: bool
    score: float
    probability: float
    bias: float
    contributions: Sequence[Contribution]


@dataclass(frozen=True)
class Explanation:
    """The path of a label for one example, in each tree.

    `paths[t]` are the steps in tree t from the root to the label's leaf; the label's probability in that tree is the
    product of the steps' probabilities, `probability` the average over the trees. In a model with `rerank`,
    `classifier` is the classifier of the label, and `probability` is what both make together.
    """

    label: Any
    probability: float
    paths: Sequence[Sequence[Step]]
    classifier: LabelStep | None = field(default=None, kw_only=True)

    def amounts(self) -> dict[Any, float]:
        """Return the amount that each feature adds to the scores of a path, averaged over the trees.

        If the classifier of the label decides, these are the amounts that features add to its score.
        """
        if self.classifier is not None and self.classifier.proposed:
            return {c.feature: c.amount for c in self.classifier.contributions}
        amounts: dict[Any, float] = defaultdict(float)
        for step in chain.from_iterable(self.paths):
            for contribution in step.contributions:
                amounts[contribution.feature] += contribution.amount / len(self.paths)
        return dict(amounts)

    def __str__(self) -> str:
        lines = [f"{self.label}: probability {self.probability:.4f}"]
        if self.classifier is not None:
            by_trees = "" if self.classifier.proposed else "  [the trees do not propose this label]"
            lines.append(f"classifier of the label: {self.classifier.probability:.4f}{by_trees}")
            words = ", ".join(f"{c.feature} {c.amount:+.3f}" for c in self.classifier.contributions)
            lines.append(f"    {words + ', ' if words else ''}bias {self.classifier.bias:+.3f}")
        for t, path in enumerate(self.paths):
            if len(self.paths) > 1:
                lines.append(f"tree {t + 1}: {path[-1].probability_so_far:.4f}")
            for depth, step in enumerate(path):
                what = (
                    "root"
                    if depth == 0
                    else str(self.label)
                    if step is path[-1]
                    else count_text(step.n_labels, "label")
                )
                lines.append(
                    f"{'  ' * depth}└ node {step.node} ({what}): {step.probability:.4f}"
                    f"  [so far {step.probability_so_far:.4f}]"
                )
                words = ", ".join(f"{c.feature} {c.amount:+.3f}" for c in step.contributions)
                if words:
                    lines.append(f"{'  ' * depth}    {words}, bias {step.bias:+.3f}")
        return "\n".join(lines)


def strongest(
    triples: Iterable[tuple[int, float, float]],
    n_features: int,
    feature_names: FeatureNames,
) -> tuple[Contribution, ...]:
    """Return the `n_features` largest contributions of triples of a feature, its value and its weight."""
    known = [
        Contribution(feature if feature_names is None else feature_names[feature], value, weight)
        for feature, value, weight in triples
        if weight != 0
    ]
    known.sort(key=lambda contribution: -abs(contribution.amount))
    return tuple(known[:n_features])

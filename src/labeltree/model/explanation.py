"""Why a label was given: its path through the tree, and the features that weighed most at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labeltree import _native
from labeltree.model.block_weights import TreeWeights


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
class Explanation:
    """The path of a label for one example, in each tree.

    `paths[t]` are the steps in tree t from the root to the label's leaf; the label's probability in that tree is the
    product of the steps' probabilities, `probability` the average over the trees.
    """

    label: Any
    probability: float
    paths: Sequence[Sequence[Step]]

    def __str__(self) -> str:
        lines = [f"{self.label}: probability {self.probability:.4f}"]
        for t, path in enumerate(self.paths):
            if len(self.paths) > 1:
                lines.append(f"tree {t + 1}: {path[-1].probability_so_far:.4f}")
            for depth, step in enumerate(path):
                what = (
                    "root"
                    if depth == 0
                    else str(self.label)
                    if step is path[-1]
                    else f"{step.n_labels} labels"
                )
                lines.append(
                    f"{'  ' * depth}└ node {step.node} ({what}): {step.probability:.4f}"
                    f"  [so far {step.probability_so_far:.4f}]"
                )
                words = ", ".join(f"{c.feature} {c.amount:+.3f}" for c in step.contributions)
                if words:
                    lines.append(f"{'  ' * depth}    {words}, bias {step.bias:+.3f}")
        return "\n".join(lines)


def explain_path(
    weights: TreeWeights,
    store: _native.BlockStore,
    features: _native.FeatureMatrix,
    label: int,
    normalize_siblings: bool,
    n_features: int,
    feature_names: Sequence[str] | None,
) -> list[Step]:
    """The steps from the root to a label for the only row of `features`."""
    tree = weights.tree
    values = dict(zip(*(array.tolist() for array in features.row(0)), strict=True))
    steps: list[Step] = []
    so_far = 1.0
    block, first = 0, 0
    for node in tree.path(label).tolist():
        column = node - first
        probability = float(store.probabilities(features, 0, block, normalize_siblings)[column])
        so_far *= probability
        known = [
            Contribution(
                feature if feature_names is None else feature_names[feature], values[feature], weight
            )
            for feature, weight in zip(*(a.tolist() for a in store.column(block, column)), strict=True)
            if weight != 0 and feature in values  # int8 may have rounded it to 0
        ]
        known.sort(key=lambda contribution: -abs(contribution.amount))
        steps.append(
            Step(
                node=node,
                n_labels=len(tree.labels_under(node)),
                score=float(store.scores(features, 0, block)[column]),
                probability=probability,
                probability_so_far=so_far,
                bias=float(weights.arrays["bias"][node]),
                contributions=tuple(known[:n_features]),
            )
        )
        block, first = weights.block_of(node), int(tree.child_begin[node])
    return steps

"""A_online of section 5 of the paper: binary classifiers that learn one example after another, in float32.

The formulas are those of native/lanes/online_kernel.h, in the same order, so that even the last bit can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

f32 = np.float32

#: An example: its features with their values, in their order; the bias, if any, is the last, with value 1.
Row = Sequence[tuple[Hashable, float]]


@dataclass
class Classifier:
    """What an example is scored with, and what the next update depends on."""

    #: SGD keeps them divided by `penalty`; FOBOS has shrunk each by `shrunk` of `penalty`.
    w: dict[Hashable, Any] = field(default_factory=dict)
    squares: dict[Hashable, Any] = field(default_factory=dict)
    shrunk: dict[Hashable, float] = field(default_factory=dict)
    penalty: float = 0.0
    n_seen: int = 0

    def copy(self) -> Classifier:
        return Classifier(dict(self.w), dict(self.squares), dict(self.shrunk), self.penalty, self.n_seen)

    def inverse(self) -> Classifier:
        """As if every positive example had been a negative one and the other way round."""
        inverse = self.copy()
        inverse.w = {feature: f32(0) - w for feature, w in self.w.items()}  # 0, not -0, where it is 0
        return inverse


@dataclass(frozen=True)
class Learner:
    """How classifiers are made, updated and asked."""

    solver: str
    loss: str
    learning_rate: float = 0.5
    regularization: float = 0.0
    initial_accumulator: float = 1.0

    def new_classifier(self) -> Classifier:
        return Classifier(penalty=1.0 if self.solver == "sgd" else 0.0)

    def update(self, h: Classifier, x: Row, z: int, weight: float = 1.0) -> None:
        """Learn that the class of x is z, 1 or 0."""
        score = self.score(h, x)
        margin = score if z == 1 else -score
        slope = (f32(weight) if z == 1 else -f32(weight)) * self._slope(margin)
        if self.solver == "adagrad":
            for feature, value in x:
                g = f32(value) * slope
                h.squares[feature] = h.squares.get(feature, f32(0)) + g * g
                step = (
                    f32(self.learning_rate) * g / np.sqrt(h.squares[feature] + f32(self.initial_accumulator))
                )
                h.w[feature] = h.w.get(feature, f32(0)) - step
        else:
            decayed = float(f32(self.learning_rate)) / math.sqrt(1 + h.n_seen)
            taken = decayed * self.regularization
            if self.solver == "sgd":
                h.penalty *= 1 - taken
            rate = f32(decayed / h.penalty) if self.solver == "sgd" else f32(decayed)
            for feature, value in x:
                h.w[feature] = self._weight(h, feature) - rate * (f32(value) * slope)
            if self.solver == "fobos":
                h.shrunk.update(dict.fromkeys((feature for feature, _ in x), h.penalty))
                h.penalty += taken
            elif h.penalty < 1e-9:
                h.w = {feature: w * f32(h.penalty) for feature, w in h.w.items()}
                h.penalty = 1.0
        h.n_seen += 1

    def score(self, h: Classifier, x: Row) -> Any:
        sums = [f32(0), f32(0)]
        for k, (feature, value) in enumerate(x):
            sums[k % 2] += f32(value) * self._weight(h, feature)
        total = sums[0] + sums[1]
        return f32(h.penalty) * total if self.solver == "sgd" else total

    def probability(self, h: Classifier, x: Row) -> Any:
        """By the link of the loss unless another is asked for; rounded as in native/model/link.cpp."""
        score = self.score(h, x)
        if self.loss == "logistic":
            return f32(1) / (f32(1) + f32(math.exp(-score)))
        missing = max(f32(1) - score, f32(0))
        return f32(math.exp(-(missing * missing * missing * missing)))

    def weights(self, h: Classifier) -> dict[Hashable, Any]:
        """The weights themselves."""
        scale = f32(h.penalty) if self.solver == "sgd" else f32(1)
        return {feature: scale * self._weight(h, feature) for feature in h.w}

    def _weight(self, h: Classifier, feature: Hashable) -> Any:
        """As it is kept, except that FOBOS catches up with what the weight has missed."""
        w = h.w.get(feature, f32(0))
        if self.solver != "fobos":
            return w
        missed = f32(h.penalty - h.shrunk.get(feature, 0.0))
        return max(w - missed, f32(0)) + min(w + missed, f32(0))

    def _slope(self, margin: Any) -> Any:
        """The derivative of the loss by the margin."""
        if self.loss == "squared_hinge":
            return f32(-2) * max(f32(1) - margin, f32(0))
        return -(f32(1) / (f32(1) + _exponential(margin)))


def _exponential(x: Any) -> Any:
    """e^x as native/lanes/simd.h computes it."""
    x = min(max(x, f32(-87)), f32(87))
    rounder = f32(12582912)  # 1.5 * 2^23: adding it rounds to an integer
    n = (x * f32(1.44269504) + rounder) - rounder
    r = (x - n * f32(0.693359375)) + n * f32(2.12194440e-4)
    p = f32(1.9875691500e-4)
    for coefficient in (1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1):
        p = p * r + f32(coefficient)
    return (p * r * r + r + f32(1)) * np.ldexp(f32(1), int(n))

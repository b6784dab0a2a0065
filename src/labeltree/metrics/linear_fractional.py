"""Metrics as objects that know their best threshold: ratios of linear functions of false positives and negatives.

FP and FN are the rates of false positives and false negatives, P is the rate of positives. A "macro" metric computes
them for each label and takes the mean of the metric over labels; a "micro" metric averages the rates over labels first.
The metric is ``(a0 + a1 FP + a2 FN) / (b0 + b1 FP + b2 FN)``. Its coefficients may depend on P. It is largest if all
labels with a probability above a threshold are predicted. The threshold follows from the coefficients and the largest
value.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.metrics.outcomes import Outcomes, count_outcomes, read_decided
from labeltree.metrics.reading import Labels

Average: TypeAlias = Literal["micro", "macro"]
AVERAGES: tuple[Average, Average] = ("micro", "macro")
FloatArray: TypeAlias = NDArray[np.float64]
Rate: TypeAlias = float | FloatArray
"""A number, or one for each label."""


class Coefficients(NamedTuple):
    """The coefficients of a metric: numbers, or arrays with one for each label."""

    a0: Rate
    a1: Rate
    a2: Rate
    b0: Rate
    b1: Rate
    b2: Rate


@dataclass(frozen=True)
class ThresholdMetric(ABC):
    """A metric of decided label sets, the larger the better, that thresholds on probabilities maximise.

    A subclass defines the coefficients and, for `get_metric`, declares two names: the "micro" and the "macro" one.

    Parameters
    ----------
    average : {"micro", "macro"}
        Whether FP, FN and P are averaged over labels, or the metric is.
    """

    #: The names that `get_metric` takes, in lower case; one with another parameter is an example.
    names: ClassVar[tuple[str, ...]] = ()
    average: Average = "micro"

    def __post_init__(self) -> None:
        if self.average not in AVERAGES:
            raise ValueError(f"average must be 'micro' or 'macro', got {self.average!r}")

    @property
    def name(self) -> str:
        """The name that `get_metric` takes."""
        return self.names[AVERAGES.index(self.average)]

    @classmethod
    def from_name(cls, name: str) -> ThresholdMetric | None:
        """Return the metric with a name in lower case, None if the class does not have the name."""
        return cls(AVERAGES[cls.names.index(name)]) if name in cls.names else None

    @abstractmethod
    def coefficients(self, prior: Rate) -> Coefficients:
        """Return the coefficients if the share `prior` of the rows is positive."""

    @property
    def has_fixed_threshold(self) -> bool:
        """Whether the best threshold is known without data, because the denominator does not depend on errors."""
        _, _, _, _, b1, b2 = self.coefficients(0.5)
        return bool(b1 == 0 and b2 == 0)

    def value(
        self, false_positives: ArrayLike, false_negatives: ArrayLike, positives: ArrayLike, n: int
    ) -> FloatArray:
        """Return the metric of counts out of n, a value for each entry of the arrays; 0/0 counts as 0."""
        fp, fn = np.asarray(false_positives) / n, np.asarray(false_negatives) / n
        a0, a1, a2, b0, b1, b2 = self.coefficients(np.asarray(positives) / n)
        above, below = np.broadcast_arrays(a0 + a1 * fp + a2 * fn, b0 + b1 * fp + b2 * fn)
        values: FloatArray = np.divide(above, below, out=np.zeros(above.shape), where=below != 0)
        return values

    def value_of(self, outcomes: Outcomes, n_rows: int) -> float:
        """Return the metric of the outcomes of all labels."""
        n = n_rows
        if self.average == "micro":
            n, outcomes = n_rows * len(outcomes.both), outcomes.total()
        positives = outcomes.both + outcomes.only_true
        return float(self.value(outcomes.only_pred, outcomes.only_true, positives, n).mean())

    def optimal_threshold(self, best_value: Rate, prior: Rate) -> FloatArray:
        """Return the best threshold on true probabilities: alpha* of the paper.

        Parameters
        ----------
        best_value : float or array
            The largest value that the metric can have. A fixed threshold does not depend on it.
        prior : float or array
            The share of positives: of each label, or on average over labels.
        """
        _, a1, a2, _, b1, b2 = self.coefficients(prior)
        return np.asarray((best_value * b1 - a1) / (best_value * (b1 + b2) - (a1 + a2)))

    def smallest_denominator(self, prior: Rate) -> FloatArray:
        """Return the smallest possible denominator: gamma of the paper."""
        _, _, _, b0, b1, b2 = self.coefficients(prior)
        # It is linear in FP, from 0 to 1 - P, and FN, from 0 to P.
        return np.asarray(b0 + np.minimum(0, b1 * (1 - prior)) + np.minimum(0, b2 * prior))

    def regret_factor(self, best_value: Rate, prior: Rate) -> FloatArray:
        """Return the factor from the regret of probabilities to the bound on the metric's regret: C of the paper."""
        _, a1, a2, _, b1, b2 = self.coefficients(prior)
        slope = best_value * (b1 + b2) - (a1 + a2)
        return np.asarray(slope / self.smallest_denominator(prior))

    def __call__(self, y_true: Labels, y_pred: Labels) -> float:
        """Return the metric of predicted label sets, in any form that `f_beta` takes."""
        truth, predicted = read_decided(y_true, y_pred)
        return self.value_of(count_outcomes(truth, predicted, per="label"), truth.n_rows)


@dataclass(frozen=True)
class Hamming(ThresholdMetric):
    """1 minus the Hamming loss, also with costs: ``1 - false_positive_cost FP - false_negative_cost FN``.

    Both averages are the same.

    Examples
    --------
    >>> from labeltree.metrics import Hamming
    >>> Hamming()([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]])
    0.6666666666666667
    >>> float(Hamming(false_negative_cost=3.0).optimal_threshold(1.0, prior=0.1))
    0.25
    """

    names: ClassVar = ("hamming",)
    false_positive_cost: float = 1.0
    false_negative_cost: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("false_positive_cost", "false_negative_cost"):
            cost = getattr(self, name)
            if not (np.isfinite(cost) and cost > 0):
                raise ValueError(f"{name} must be a positive number, got {cost}")

    @property
    def name(self) -> str:
        if self.false_positive_cost == self.false_negative_cost == 1:
            return "hamming"
        return f"hamming({self.false_positive_cost:g}, {self.false_negative_cost:g})"

    @classmethod
    def from_name(cls, name: str) -> Hamming | None:
        return cls() if name == "hamming" else None

    def coefficients(self, prior: Rate) -> Coefficients:
        return Coefficients(1.0, -self.false_positive_cost, -self.false_negative_cost, 1.0, 0.0, 0.0)


@dataclass(frozen=True)
class FBeta(ThresholdMetric):
    """The F-beta measure; its best threshold is the largest value divided by ``1 + beta²``.

    Examples
    --------
    >>> from labeltree.metrics import FBeta
    >>> FBeta(average="macro")([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]])
    0.5555555555555555
    >>> float(FBeta(beta=2.0).optimal_threshold(0.8, prior=0.1).round(6))
    0.16
    """

    names: ClassVar = ("micro_f1", "macro_f1")
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta must be a positive number, got {self.beta}")

    @property
    def name(self) -> str:
        return f"{self.average}_f{self.beta:g}"

    @classmethod
    def from_name(cls, name: str) -> FBeta | None:
        match = re.fullmatch(r"(micro|macro)_f([0-9]+(?:\.[0-9]+)?)", name, re.ASCII)
        if match is None or float(match[2]) == 0:
            return None
        return cls("micro" if match[1] == "micro" else "macro", float(match[2]))

    def coefficients(self, prior: Rate) -> Coefficients:
        weight = 1 + self.beta**2
        return Coefficients(weight * prior, 0.0, -weight, weight * prior, 1.0, -1.0)


@dataclass(frozen=True)
class Jaccard(ThresholdMetric):
    """The Jaccard index. It rises with F1, so the same thresholds are best for both.

    Examples
    --------
    >>> from labeltree.metrics import Jaccard
    >>> round(Jaccard()([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]]), 6)
    0.5
    """

    names: ClassVar = ("micro_jaccard", "macro_jaccard")

    def coefficients(self, prior: Rate) -> Coefficients:
        return Coefficients(prior, 0.0, -1.0, prior, 1.0, 0.0)


@dataclass(frozen=True)
class AM(ThresholdMetric):
    """The arithmetic mean of the true positive and the true negative rate; its best threshold is the prior.

    Examples
    --------
    >>> from labeltree.metrics import AM
    >>> AM(average="macro")([["cat"], ["dog"], ["cat"]], [["cat"], ["dog"], ["dog"]])
    0.75
    """

    names: ClassVar = ("micro_am", "macro_am")

    def coefficients(self, prior: Rate) -> Coefficients:
        both = 2 * prior * (1 - prior)
        return Coefficients(both, -prior, prior - 1, both, 0.0, 0.0)


@dataclass(frozen=True)
class LinearFractional(ThresholdMetric):
    """A metric of your own: ``(a0 + a1 FP + a2 FN) / (b0 + b1 FP + b2 FN)`` with coefficients that are numbers.

    It must not rise with FP or FN, and the denominator must be positive if FP + FN is at most 1. Make a subclass of
    `ThresholdMetric` if the coefficients depend on the share of positives.

    Examples
    --------
    >>> from labeltree.metrics import LinearFractional
    >>> metric = LinearFractional(a0=1, a1=-1, a2=-1, b0=1, b1=1, b2=1)
    >>> round(metric([["cat"], ["cat", "dog"]], [["cat"], ["dog", "emu"]]), 6)
    0.5
    """

    a0: float = 1.0
    a1: float = -1.0
    a2: float = -1.0
    b0: float = 1.0
    b1: float = 0.0
    b2: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        a0, a1, a2, b0, b1, b2 = self.a0, self.a1, self.a2, self.b0, self.b1, self.b2
        if not np.isfinite([a0, a1, a2, b0, b1, b2]).all():
            raise ValueError(f"the coefficients must be finite numbers, got {self}")
        if min(b0, b0 + b1, b0 + b2) <= 0:
            raise ValueError(
                f"b0, b0 + b1 and b0 + b2 must be above 0: the denominator is positive, got {self}"
            )
        # The sign of each derivative is that of a linear function of the other rate, so its ends decide.
        with_fp, cross, with_fn = a1 * b0 - a0 * b1, a1 * b2 - a2 * b1, a2 * b0 - a0 * b2
        if max(with_fp, with_fp + cross, with_fn, with_fn - cross) > 0:
            raise ValueError(f"the metric must not rise with FP or FN, but this one does: {self}")
        if with_fp == with_fn == 0:
            raise ValueError(f"the metric must depend on FP or FN, but this one does not: {self}")

    @property
    def name(self) -> str:
        return f"{self.average}_linear_fractional({', '.join(f'{c:g}' for c in self.coefficients(0.5))})"

    def coefficients(self, prior: Rate) -> Coefficients:
        return Coefficients(self.a0, self.a1, self.a2, self.b0, self.b1, self.b2)

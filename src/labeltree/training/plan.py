"""A plan: how one kind of estimator trains a forest on examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from labeltree.model.forest import Forest
from labeltree.model.model import Reader
from labeltree.training.examples import Examples
from labeltree.training.run import Run


@dataclass(frozen=True)
class Trained:
    """The result of training.

    Attributes
    ----------
    forest : Forest
    reports : list of dict
        Counts of the work done, for each tree.
    seconds : dict
        Duration of each phase.
    facts : dict
        Fitted attributes that only this kind of estimator has, such as `C_`.
    warnings : sequence of str
        Warnings for the caller of `fit`.
    reader : Reader, optional
        Reads X for this forest; None if `FeatureReader` does.
    """

    forest: Forest
    reports: list[dict[str, int]]
    seconds: dict[str, float]
    facts: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    reader: Reader | None = None


class Plan(Protocol):
    """The settings of a training, taken from the parameters of an estimator."""

    def train(self, examples: Examples, run: Run) -> Trained:
        """Train a forest."""

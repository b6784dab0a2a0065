"""A plan: how one kind of estimator makes a forest of examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from labeltree.model.forest import Forest
from labeltree.model.model import Reader
from labeltree.progress import Phases
from labeltree.training.examples import Examples

Seconds = dict[str, float]


@dataclass(frozen=True)
class Run:
    """How many threads may be used, and where progress is shown."""

    n_threads: int
    phases: Phases


@dataclass(frozen=True)
class Trained:
    """A trained forest, and what training has to say.

    Attributes
    ----------
    forest : Forest
    reports : list of dict
        What training counted, for each tree.
    seconds : dict
        How long each phase took.
    facts : dict
        Fitted attributes that only this kind of estimator has, such as `C_`.
    warnings : sequence of str
        What the caller of `fit` should know.
    reader : Reader, optional
        Reads X for this forest, if the kernel does not.
    """

    forest: Forest
    reports: list[dict[str, int]]
    seconds: Seconds
    facts: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    reader: Reader | None = None


class Plan(Protocol):
    """Everything that training needs to know, taken from the parameters of an estimator."""

    def train(self, examples: Examples, run: Run) -> Trained:
        """Train a forest."""

"""What learns the node classifiers: which parameters each solver reads, and what they are if they are not given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from labeltree.training.losses import LOSSES


@dataclass(frozen=True)
class Solver:
    """A way to learn the node classifiers.

    Attributes
    ----------
    parameters : tuple of str
        Those of the classifier's `SOLVER_PARAMETERS` that it reads.
    learning_rate, regularization : dict of float
        What is taken if none is given, by loss. docs/node-learners.md has the figures that it rests on.
    """

    parameters: tuple[str, ...]
    learning_rate: Mapping[str, float] = field(default_factory=dict)
    regularization: Mapping[str, float] = field(default_factory=dict)


SOLVERS = {
    "descent": Solver(("penalty", "siblings", "C", "tol", "max_iter")),
    "adagrad": Solver(("learning_rate", "epochs"), {"squared_hinge": 0.4, "logistic": 3.0}),
    "sgd": Solver(
        ("learning_rate", "epochs", "regularization"),
        {"squared_hinge": 0.2, "logistic": 3.0},
        {"squared_hinge": 1e-5, "logistic": 1e-6},
    ),
    "fobos": Solver(
        ("learning_rate", "epochs", "regularization"),
        {"squared_hinge": 0.2, "logistic": 3.0},
        {"squared_hinge": 1e-5, "logistic": 1e-6},
    ),
}

SOLVER_PARAMETERS = (
    "penalty",
    "siblings",
    "C",
    "tol",
    "max_iter",
    "learning_rate",
    "epochs",
    "regularization",
)


#: The parameter `C` by default, by loss, with the penalty "l1".
_DEFAULT_C_L1 = {"squared_hinge": 1.0, "logistic": 2.0, "squared": 1.0}


def default_c(solver: str, loss: str, penalty: str) -> float:
    """The parameter `C` where it is not given; incremental solvers know none, which is a weight of 1.

    Examples
    --------
    >>> default_c("descent", "logistic", "l2"), default_c("descent", "logistic", "l1")
    (8.0, 2.0)
    """
    if solver != "descent":
        return 1.0
    return LOSSES[loss].default_c if penalty == "l2" else _DEFAULT_C_L1[loss]


@dataclass(frozen=True)
class IncrementalSettings:
    """`LabelTreeClassifier`'s parameters of these names, none left open."""

    learning_rate: float
    epochs: int
    regularization: float


def incremental_settings(
    solver: str, loss: str, learning_rate: float | None, epochs: int, regularization: float | None
) -> IncrementalSettings | None:
    """The parameters with defaults filled in; None for the batch solver.

    Examples
    --------
    >>> incremental_settings("adagrad", "logistic", None, 3, None)
    IncrementalSettings(learning_rate=3.0, epochs=3, regularization=0.0)
    """
    if solver == "descent":
        return None
    chosen = SOLVERS[solver]
    if loss not in chosen.learning_rate:
        losses = " or ".join(map(repr, chosen.learning_rate))
        raise ValueError(f"solver {solver!r} learns by loss {losses}, got {loss!r}")
    rate = chosen.learning_rate[loss] if learning_rate is None else learning_rate
    penalty = chosen.regularization.get(loss, 0.0) if regularization is None else regularization
    if solver == "sgd" and rate * penalty >= 1:
        raise ValueError(
            f"learning_rate * regularization must be below 1 for solver 'sgd', got {rate:g} * {penalty:g}: an "
            "example would take all weights away; use a smaller regularization"
        )
    return IncrementalSettings(rate, epochs, penalty)


def check_solver_parameters(estimator: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a parameter that is not at its default, but that the estimator's solver does not read."""
    given = vars(estimator)
    if given["penalty"] == "l1" and given["loss"] not in _DEFAULT_C_L1:
        raise ValueError(
            f"penalty 'l1' goes with the losses {', '.join(_DEFAULT_C_L1)}, got {given['loss']!r}, whose curvature has "
            "no bound"
        )
    if given["siblings"] == "joint" and given["label_weight"] is not None:
        raise ValueError("siblings='joint' knows no weights of single labels: leave label_weight at None")
    if given["siblings"] == "joint" and (given["loss"], given["penalty"]) != ("logistic", "l2"):
        raise ValueError(
            "siblings='joint' is multinomial logistic regression: use it with loss='logistic' and penalty='l2', "
            f"got loss={given['loss']!r} and penalty={given['penalty']!r}"
        )
    check_unread_parameters(
        estimator, defaults, {name: solver.parameters for name, solver in SOLVERS.items()}
    )


def check_unread_parameters(
    estimator: BaseEstimator, defaults: Mapping[str, Any], reads: Mapping[str, Sequence[str]]
) -> None:
    """Raise `ValueError` for a parameter that another solver reads, but not the estimator's, and that was set.

    `reads` has the parameters of each solver; those that all read need not be there.
    """
    given = vars(estimator)
    solver = given["solver"]
    for name in dict.fromkeys(chain.from_iterable(reads.values())):
        if name not in reads[solver] and is_set(given[name], defaults[name]):
            raise ValueError(
                f"solver {solver!r} does not use {name}, got {name}={given[name]!r}: leave it at "
                f"{defaults[name]!r}, or choose a solver that does: "
                + ", ".join(other for other, names in reads.items() if name in names)
            )


def is_set(value: Any, default: Any) -> bool:
    """Whether a parameter, which may be an array, is another than its default."""
    return value is not default and not (np.isscalar(value) and value == default)

"""The solvers of node classifiers: the parameters that each solver reads, and their defaults."""

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
    """An algorithm that trains node classifiers.

    Attributes
    ----------
    parameters : tuple of str
        The parameters of the estimator that it reads, and that not all solvers read.
    learning_rate : dict of float
        Default learning rate by loss. docs/node-learners.md has the measurements behind the defaults.
    regularization : dict of float
        Default weight of the penalty by loss; empty for a solver without a penalty.
    """

    parameters: tuple[str, ...]
    learning_rate: Mapping[str, float] = field(default_factory=dict)
    regularization: Mapping[str, float] = field(default_factory=dict)

    def step(
        self, name: str, loss: str, learning_rate: float | None, regularization: float | None
    ) -> tuple[float, float]:
        """Return the learning rate and the regularization, with defaults for None; `name` is that of the solver."""
        rate = self.learning_rate[loss] if learning_rate is None else learning_rate
        penalty = self.regularization.get(loss, 0.0) if regularization is None else regularization
        if name == "sgd" and rate * penalty >= 1:
            raise ValueError(
                f"learning_rate * regularization must be below 1 for solver 'sgd', got {rate:g} * {penalty:g}: one "
                "example would set all weights to 0; use a smaller regularization"
            )
        return rate, penalty


_WITH_PENALTY = Solver(
    ("learning_rate", "epochs", "regularization"),
    {"squared_hinge": 0.2, "logistic": 3.0},
    {"squared_hinge": 1e-5, "logistic": 1e-6},
)

SOLVERS = {
    "descent": Solver(("penalty", "siblings", "C", "tol", "max_iter")),
    "adagrad": Solver(("learning_rate", "epochs"), {"squared_hinge": 0.4, "logistic": 3.0}),
    "sgd": _WITH_PENALTY,
    "fobos": _WITH_PENALTY,
}

#: All parameters that some solvers read and others do not.
SOLVER_PARAMETERS = tuple(dict.fromkeys(chain.from_iterable(s.parameters for s in SOLVERS.values())))

#: Defaults of the parameter `C` by loss, with the penalty "l1".
_DEFAULT_C_L1 = {"squared_hinge": 1.0, "logistic": 2.0, "squared": 1.0}


def default_c(solver: str, loss: str, penalty: str) -> float:
    """Return the default of the parameter `C`; incremental solvers ignore C, which is 1 for them.

    Examples
    --------
    >>> default_c("descent", "logistic", "l2"), default_c("descent", "logistic", "l1")
    (8.0, 2.0)
    """
    if solver != "descent":
        return 1.0
    return LOSSES[loss].default_c if penalty == "l2" else _DEFAULT_C_L1[loss]


def incremental_settings(
    solver: str, loss: str, learning_rate: float | None, epochs: int, regularization: float | None
) -> dict[str, Any] | None:
    """Return the parameters of an incremental solver with defaults filled in; None for the solver "descent".

    Examples
    --------
    >>> incremental_settings("adagrad", "logistic", None, 3, None)
    {'learning_rate': 3.0, 'epochs': 3, 'regularization': 0.0}
    """
    if solver == "descent":
        return None
    chosen = SOLVERS[solver]
    if loss not in chosen.learning_rate:
        losses = " or ".join(map(repr, chosen.learning_rate))
        raise ValueError(f"solver {solver!r} works with loss {losses}, got {loss!r}")
    rate, penalty = chosen.step(solver, loss, learning_rate, regularization)
    return {"learning_rate": rate, "epochs": epochs, "regularization": penalty}


def check_solver_parameters(estimator: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` if parameters of a `LabelTreeClassifier` exclude each other, or its solver ignores one."""
    given = vars(estimator)
    if given["penalty"] == "l1" and given["loss"] not in _DEFAULT_C_L1:
        raise ValueError(
            f"penalty 'l1' goes with the losses {', '.join(_DEFAULT_C_L1)}, got {given['loss']!r}, whose curvature "
            "has no bound"
        )
    if given["siblings"] == "joint" and given["label_weight"] is not None:
        raise ValueError("siblings='joint' does not support label_weight: leave label_weight at None")
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
    """Raise `ValueError` if a parameter is set that the estimator's solver ignores.

    `reads` has the parameters of each solver; parameters that all solvers read may be left out.
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
    """Return whether a parameter, which may be an array, differs from its default."""
    return value is not default and not (np.isscalar(value) and value == default)

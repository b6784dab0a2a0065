"""What learns the node classifiers: which parameters each solver reads, and what they are if they are not given."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field

from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Solver:
    """A way to learn the node classifiers.

    Attributes
    ----------
    parameters : tuple of str
        Those of the classifier's `SOLVER_PARAMETERS` that it reads.
    learning_rate : dict of float
        By loss, the rate that is taken if none is given. docs/how-it-works.md has the figures that it rests on.
    regularization : float
        Likewise.
    """

    parameters: tuple[str, ...]
    learning_rate: Mapping[str, float] = field(default_factory=dict)
    regularization: float = 0.0


SOLVERS = {
    "descent": Solver(("penalty", "siblings", "C", "tol", "max_iter")),
    "adagrad": Solver(("learning_rate", "epochs"), {"squared_hinge": 0.2, "logistic": 1.5}),
    "sgd": Solver(
        ("learning_rate", "epochs", "regularization"), {"squared_hinge": 0.2, "logistic": 2.0}, 0.0
    ),
    "fobos": Solver(
        ("learning_rate", "epochs", "regularization"), {"squared_hinge": 0.2, "logistic": 2.0}, 1e-6
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
    IncrementalSettings(learning_rate=1.5, epochs=3, regularization=0.0)
    """
    if solver == "descent":
        return None
    chosen = SOLVERS[solver]
    rate = chosen.learning_rate[loss] if learning_rate is None else learning_rate
    penalty = chosen.regularization if regularization is None else regularization
    if solver == "sgd" and rate * penalty >= 1:
        raise ValueError(
            f"learning_rate * regularization must be below 1 for solver 'sgd', got {rate:g} * {penalty:g}: an "
            "example would take all weights away; use a smaller regularization"
        )
    return IncrementalSettings(rate, epochs, penalty)


def check_solver_parameters(estimator: BaseEstimator) -> None:
    """Raise `ValueError` for a parameter that was set, but that the estimator's solver does not read."""
    given = estimator.get_params(deep=False)
    if given["siblings"] == "joint" and (given["loss"], given["penalty"]) != ("logistic", "l2"):
        raise ValueError(
            "siblings='joint' is multinomial logistic regression: use it with loss='logistic' and penalty='l2', "
            f"got loss={given['loss']!r} and penalty={given['penalty']!r}"
        )
    signature = inspect.signature(type(estimator)).parameters
    read = SOLVERS[given["solver"]].parameters
    for name in SOLVER_PARAMETERS:
        if name not in read and given[name] != signature[name].default:
            raise ValueError(
                f"solver {given['solver']!r} does not use {name}, got {name}={given[name]!r}: leave it at "
                f"{signature[name].default!r}, or choose a solver that does: "
                + ", ".join(solver for solver, other in SOLVERS.items() if name in other.parameters)
            )

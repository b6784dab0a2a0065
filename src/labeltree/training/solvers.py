"""What learns the node classifiers: which parameters each solver reads, and what they are if they are not given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from labeltree.training.losses import LOSSES

#: Those of the classifier's `SOLVER_PARAMETERS` that each solver reads.
SOLVERS: dict[str, tuple[str, ...]] = {
    "descent": ("penalty", "siblings", "C", "tol", "max_iter"),
    "adagrad": ("learning_rate", "epochs"),
    "sgd": ("learning_rate", "epochs", "regularization"),
    "fobos": ("learning_rate", "epochs", "regularization"),
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


def default_c(solver: str, loss: str, penalty: str) -> float:
    """The parameter `C` where it is not given; incremental solvers know none, which is a weight of 1.

    Examples
    --------
    >>> default_c("descent", "logistic", "l2"), default_c("descent", "logistic", "l1")
    (8.0, 2.0)
    """
    if solver != "descent":
        return 1.0
    if penalty == "l2":
        return LOSSES[loss].default_c
    value = LOSSES[loss].default_c_l1
    assert value is not None  # check_solver_parameters refuses other losses
    return value


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
    chosen = LOSSES[loss]
    if solver not in chosen.learning_rate:
        losses = " or ".join(repr(name) for name, other in LOSSES.items() if solver in other.learning_rate)
        raise ValueError(f"solver {solver!r} learns by loss {losses}, got {loss!r}")
    rate = chosen.learning_rate[solver] if learning_rate is None else learning_rate
    penalty = chosen.regularization.get(solver, 0.0) if regularization is None else regularization
    if solver == "sgd" and rate * penalty >= 1:
        raise ValueError(
            f"learning_rate * regularization must be below 1 for solver 'sgd', got {rate:g} * {penalty:g}: an "
            "example would take all weights away; use a smaller regularization"
        )
    return IncrementalSettings(rate, epochs, penalty)


def check_solver_parameters(estimator: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a parameter that is not at its default, but that the estimator's solver does not read."""
    given = vars(estimator)
    if given["penalty"] == "l1" and LOSSES[given["loss"]].default_c_l1 is None:
        losses = ", ".join(name for name, loss in LOSSES.items() if loss.default_c_l1 is not None)
        raise ValueError(
            f"penalty 'l1' goes with the losses {losses}, got {given['loss']!r}, whose curvature has no bound"
        )
    if given["siblings"] == "joint" and given["label_weight"] is not None:
        raise ValueError("siblings='joint' knows no weights of single labels: leave label_weight at None")
    if given["siblings"] == "joint" and (given["loss"], given["penalty"]) != ("logistic", "l2"):
        raise ValueError(
            "siblings='joint' is multinomial logistic regression: use it with loss='logistic' and penalty='l2', "
            f"got loss={given['loss']!r} and penalty={given['penalty']!r}"
        )
    check_unread_parameters(estimator, defaults, SOLVERS)


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

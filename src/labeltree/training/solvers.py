"""The solvers of node classifiers: the parameters that each solver reads, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from labeltree.training.losses import LOSSES

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: The parameters of each solver that not all solvers read.
SOLVERS: dict[str, tuple[str, ...]] = {
    "descent": ("penalty", "siblings", "C", "tol", "max_iter"),
    "adagrad": ("learning_rate", "rate_schedule", "initial_accumulator", "epochs"),
    "sgd": ("learning_rate", "rate_schedule", "epochs", "regularization"),
    "fobos": ("learning_rate", "rate_schedule", "epochs", "regularization"),
}

#: All parameters that some solvers read and others do not.
SOLVER_PARAMETERS = tuple(dict.fromkeys(chain.from_iterable(SOLVERS.values())))


def default_c(solver: str, loss: str, penalty: str) -> float:
    """Return the default of the parameter `C`; incremental solvers ignore C, which is 1 for them.

    Examples
    --------
    >>> default_c("descent", "logistic", "l2"), default_c("descent", "logistic", "l1")
    (8.0, 2.0)
    """
    if solver != "descent":
        return 1.0
    value = LOSSES[loss].default_c if penalty == "l2" else LOSSES[loss].default_c_l1
    assert value is not None  # check_solver_parameters refuses losses without a default
    return value


def incremental_settings(estimator: Any) -> dict[str, Any] | None:
    """Return the kernel's options for the incremental solver of an estimator; None for the solver "descent".

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> incremental_settings(LabelTreeClassifier(solver="adagrad", loss="logistic", learning_rate=1.0))
    {'learning_rate': 1.0, 'falling_rate': True, 'initial_accumulator': 1.0, 'epochs': 3, 'regularization': 0.0}
    """
    solver, loss = estimator.solver, estimator.loss
    if solver == "descent":
        return None
    chosen = LOSSES[loss]
    if solver not in chosen.learning_rate:
        losses = " or ".join(repr(name) for name, other in LOSSES.items() if solver in other.learning_rate)
        raise ValueError(f"solver {solver!r} works with loss {losses}, got {loss!r}")
    rate = _or_default(estimator.learning_rate, chosen.learning_rate[solver])
    penalty = _or_default(estimator.regularization, chosen.regularization.get(solver, 0.0))
    check_step(solver, rate, penalty)
    return {
        "learning_rate": rate,
        "falling_rate": estimator.rate_schedule == "linear",
        "initial_accumulator": _or_default(estimator.initial_accumulator, chosen.initial_accumulator),
        "epochs": estimator.epochs,
        "regularization": penalty,
    }


def _or_default(value: float | None, default: float) -> float:
    return default if value is None else value


def check_step(solver: str, learning_rate: float, regularization: float) -> None:
    """Raise `ValueError` if a step of the solver "sgd" would shrink weights to 0 or beyond."""
    if solver == "sgd" and learning_rate * regularization >= 1:
        raise ValueError(
            f"learning_rate * regularization must be below 1 for solver 'sgd', got {learning_rate:g} * "
            f"{regularization:g}: one example would set all weights to 0; use a smaller regularization"
        )


def check_solver_parameters(estimator: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` if parameters of a `LabelTreeClassifier` exclude each other, or its solver ignores one."""
    given = vars(estimator)
    if given["penalty"] == "l1" and LOSSES[given["loss"]].default_c_l1 is None:
        losses = ", ".join(name for name, loss in LOSSES.items() if loss.default_c_l1 is not None)
        raise ValueError(
            f"penalty 'l1' works only with the losses {losses}, got {given['loss']!r}, whose curvature has no bound"
        )
    if given["rerank"] > 0 and given["label_weight"] is not None:
        raise ValueError(
            "rerank does not work with label_weight, which the label classifiers do not read; leave one of them at its "
            f"default, got rerank={given['rerank']} and label_weight={given['label_weight']!r}"
        )
    if given["siblings"] == "joint" and given["label_weight"] is not None:
        raise ValueError("siblings='joint' does not support label_weight: leave label_weight at None")
    if given["siblings"] == "joint" and (given["loss"], given["penalty"]) != ("logistic", "l2"):
        raise ValueError(
            "siblings='joint' is multinomial logistic regression: use it with loss='logistic' and penalty='l2', "
            f"got loss={given['loss']!r} and penalty={given['penalty']!r}"
        )
    check_unread_parameters(estimator, defaults, SOLVERS)


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

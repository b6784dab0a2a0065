"""The solvers of an online tree, and their default learning rates."""

from __future__ import annotations

from labeltree.training.solvers import check_step

#: Default learning rates by solver and loss. They are good on held-out rows of eurlex57k and tate together, after one
#: and after three passes over 15,000 training rows, with a complete tree of arity 16 and one seed.
LEARNERS = {
    "adagrad": {"logistic": 2.0, "squared_hinge": 0.3},
    "sgd": {"logistic": 50.0, "squared_hinge": 1.5},
    "fobos": {"logistic": 50.0, "squared_hinge": 1.5},
}

#: Default weight of the penalty of the solvers that have one.
PENALTY = 1e-6


def learner_settings(
    solver: str, loss: str, weights: str, learning_rate: float | None, regularization: float | None
) -> tuple[float, float]:
    """Return the learning rate and the regularization, with defaults filled in.

    Examples
    --------
    >>> learner_settings("sgd", "logistic", "map", 3.0, None)
    (3.0, 1e-06)
    """
    rate = LEARNERS[solver][loss] if learning_rate is None else learning_rate
    if solver == "adagrad" and regularization:
        raise ValueError(
            f"solver {solver!r} has no penalty: leave regularization at None, got {regularization!r}"
        )
    if weights == "shared" and (solver == "fobos" or regularization):
        raise ValueError(
            "weights='shared' allows no penalty, because all nodes share every weight: use solver='adagrad' or "
            "solver='sgd' without regularization"
        )
    if solver == "adagrad" or weights == "shared":
        return rate, 0.0
    penalty = PENALTY if regularization is None else regularization
    check_step(solver, rate, penalty)
    return rate, penalty

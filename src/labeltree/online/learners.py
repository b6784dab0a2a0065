"""The solvers of an online tree, and their default learning rates."""

from __future__ import annotations

from labeltree.training.solvers import Solver

_WITH_PENALTY = Solver(
    ("learning_rate", "regularization"),
    {"logistic": 50.0, "squared_hinge": 1.5},
    {"logistic": 1e-6, "squared_hinge": 1e-6},
)

#: The defaults are good on held-out rows of eurlex57k and tate together, after one and after three passes over 15,000
#: training rows, with a complete tree of arity 16 and one seed.
LEARNERS = {
    "adagrad": Solver(("learning_rate",), {"logistic": 2.0, "squared_hinge": 0.3}),
    "sgd": _WITH_PENALTY,
    "fobos": _WITH_PENALTY,
}


def learner_settings(
    solver: str, loss: str, weights: str, learning_rate: float | None, regularization: float | None
) -> tuple[float, float]:
    """Return the learning rate and the regularization, with defaults filled in.

    Examples
    --------
    >>> learner_settings("sgd", "logistic", "map", 3.0, None)
    (3.0, 1e-06)
    """
    learner = LEARNERS[solver]
    if regularization and not learner.regularization:
        raise ValueError(
            f"solver {solver!r} has no penalty: leave regularization at None, got {regularization!r}"
        )
    if weights == "shared":
        if solver == "fobos" or regularization:
            raise ValueError(
                "weights='shared' allows no penalty, because all nodes share every weight: use solver='adagrad' or "
                "solver='sgd' without regularization"
            )
        regularization = 0.0
    return learner.step(solver, loss, learning_rate, regularization)

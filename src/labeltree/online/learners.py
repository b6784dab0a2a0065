"""The solvers of an online tree, their default learning rates and where AdaGrad starts."""

from __future__ import annotations

from labeltree.training.solvers import check_step

#: Default learning rates by solver and loss, chosen on development rows: docs/online-learning.md says how.
LEARNERS = {
    "adagrad": {"logistic": 1.0, "squared_hinge": 0.3},
    "sgd": {"logistic": 50.0, "squared_hinge": 1.5},
    "fobos": {"logistic": 50.0, "squared_hinge": 1.5},
}

#: Default initial value of AdaGrad's sums of squared gradients, by loss, for examples that come once.
INITIAL_ACCUMULATOR = {"logistic": 0.01, "squared_hinge": 1.0}

#: The initial value where examples come several times, which a small value would overfit; where learning continues
#: from trained weights, which a small value would overwrite; and in models that did not save it.
LARGE_ACCUMULATOR = 1.0
#: AdaGrad's default learning rates that go with it.
LARGE_ACCUMULATOR_RATES = {"logistic": 2.0, "squared_hinge": 0.3}

#: Default weight of the penalty of the solvers that have one.
PENALTY = 1e-6


def adagrad_settings(
    loss: str, learning_rate: float | None, initial_accumulator: float | None, is_single_pass: bool
) -> tuple[float, float]:
    """Return the learning rate and the initial sum of squared gradients, with defaults filled in.

    Examples
    --------
    >>> adagrad_settings("logistic", None, None, is_single_pass=True)
    (1.0, 0.01)
    """
    rates = LEARNERS["adagrad"] if is_single_pass else LARGE_ACCUMULATOR_RATES
    start = INITIAL_ACCUMULATOR[loss] if is_single_pass else LARGE_ACCUMULATOR
    return (
        rates[loss] if learning_rate is None else learning_rate,
        start if initial_accumulator is None else initial_accumulator,
    )


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

"""The constraints of parameters that several estimators have."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from labeltree import scikit_learn
from labeltree.model.weight_types import WEIGHT_TYPES
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    check_parameters,
    n_threads,
)

COMMON_CONSTRAINTS: dict[str, Constraint] = {
    "n_trees": Number(1, LARGEST_INTEGER, integer=True),
    "C": Number(0, 1e10, open_low=True),
    "tol": Number(0, open_low=True),
    "max_iter": Number(1, LARGEST_INTEGER, integer=True),
    "learning_rate": Number(0, 1e10, open_low=True, optional=True),
    # Far from where the squares of float32 numbers overflow or vanish.
    "initial_accumulator": Number(1e-12, 1e12, optional=True),
    "epochs": Number(1, LARGEST_INTEGER, integer=True),
    "regularization": Number(0, 1e10, optional=True),
    "alpha": Number(0, 1),
    "prune": Number(0),
    "weights": Choice(tuple(WEIGHT_TYPES.values())),
    "normalize": Flag(),
    "bias": Flag(),
    "search": Choice(("exact", "beam")),
    "beam": Number(1, LARGEST_INTEGER, integer=True),
    "missing_estimates": Choice(("path", "zero")),
    "normalize_siblings": Flag(),
    "n_jobs": Number(integer=True, optional=True),
    "verbose": Number(integer=True),
}


def check_checkpoint(estimator: Any) -> None:
    """Raise `ValueError` for a checkpoint of a training that another run could not repeat."""
    if estimator.checkpoint is not None and not isinstance(estimator.random_state, Integral):
        raise ValueError(
            "checkpoint needs an integer for random_state, so that a run that resumes starts from the same seed, "
            f"got {estimator.random_state!r}"
        )


def check_estimator(estimator: Any, constraints: Mapping[str, Constraint]) -> None:
    """Raise `ValueError` for the first invalid parameter; `constraints` add to the common ones, or replace them."""
    check_parameters(estimator, {**COMMON_CONSTRAINTS, **constraints})
    seed = estimator.random_state
    if not (seed is None or (isinstance(seed, int) and 0 <= seed < 2**32)):
        scikit_learn.check_random_state(seed)  # the states of generators, and errors
    n_threads(estimator.n_jobs)  # raises for 0

"""The default learning rates of online trees: models that were begun with them go on with them."""

from __future__ import annotations

import pytest

from labeltree.online.learners import learner_settings


@pytest.mark.parametrize(
    ("solver", "loss", "rate", "penalty"),
    [
        ("adagrad", "logistic", 2.0, 0.0),
        ("adagrad", "squared_hinge", 0.3, 0.0),
        ("sgd", "logistic", 50.0, 1e-6),
        ("sgd", "squared_hinge", 1.5, 1e-6),
        ("fobos", "logistic", 50.0, 1e-6),
        ("fobos", "squared_hinge", 1.5, 1e-6),
    ],
)
def test_defaults(solver: str, loss: str, rate: float, penalty: float) -> None:
    assert learner_settings(solver, loss, "map", None, None) == (rate, penalty)
    assert learner_settings(solver, loss, "map", 0.25, None) == (0.25, penalty)

"""The default learning rates of online trees, and where AdaGrad starts."""

from __future__ import annotations

import pytest

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.online.learners import adagrad_settings, learner_settings


@pytest.mark.parametrize(
    ("loss", "is_single_pass", "expected"),
    [
        ("logistic", True, (1.0, 0.01)),
        ("logistic", False, (2.0, 1.0)),
        ("squared_hinge", True, (0.3, 1.0)),
        ("squared_hinge", False, (0.3, 1.0)),
    ],
)
def test_defaults_of_adagrad(loss: str, is_single_pass: bool, expected: tuple[float, float]) -> None:
    assert adagrad_settings(loss, None, None, is_single_pass) == expected
    assert adagrad_settings(loss, 0.25, 0.5, is_single_pass) == (0.25, 0.5)


@pytest.mark.parametrize(("epochs", "expected"), [(1, (1.0, 0.01)), (3, (2.0, 1.0))])
def test_fit_with_several_epochs_starts_from_large_sums(epochs: int, expected: tuple[float, float]) -> None:
    model = OnlineLabelTreeClassifier(epochs=epochs).fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
    settings = model.growing_model().settings
    assert (settings.learning_rate, settings.initial_accumulator) == expected


@pytest.mark.parametrize("value", [0, -1.0, 1e-13, 1e13, float("nan"), "1", True])
def test_a_wrong_initial_accumulator_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="initial_accumulator"):
        OnlineLabelTreeClassifier(initial_accumulator=value).partial_fit([[1.0]], [["a"]])


def test_solvers_without_sums_take_no_initial_accumulator() -> None:
    with pytest.raises(ValueError, match="'sgd' sums up no squared gradients: leave initial_accumulator"):
        OnlineLabelTreeClassifier(solver="sgd", initial_accumulator=1.0).partial_fit([[1.0]], [["a"]])


def test_trained_weights_keep_small_first_steps() -> None:
    """From a small sum, one example would overwrite what a batch model has learned."""
    trained = LabelTreeClassifier(loss="logistic").fit([[1.0, 0.0], [0.0, 1.0]] * 5, [["cat"], ["dog"]] * 5)
    model = OnlineLabelTreeClassifier.from_batch(trained)
    settings = model.growing_model().settings
    assert (settings.initial_accumulator, settings.learning_rate) == (1.0, 2.0)
    given = OnlineLabelTreeClassifier.from_batch(trained, initial_accumulator=0.5)
    assert given.growing_model().settings.initial_accumulator == 0.5


@pytest.mark.parametrize(
    ("solver", "loss", "rate", "penalty"),
    [
        ("adagrad", "logistic", 1.0, 0.0),
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

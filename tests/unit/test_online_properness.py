"""Properness: whatever tree grows, its classifiers are those of incremental training on that tree from the start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.online_models import bits, classifiers, incrementally_trained, kernel_tree, learn, online_model
from tests.online_streams import LEARNERS, PolicyCase, policies, streams
from tests.reference.online_classifier import Classifier, Learner
from tests.reference.online_tree import Observation, OnlineTree, iplt_train

every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: f"{a.solver}-{a.loss}")
#: Hashed so that features meet: in 2 to 20 places each node, by solver.
WEIGHTS: list[dict[str, Any]] = [
    {"weights": "map"},
    {"weights": "dense"},
    {"weights": "hashed", "memory_mb": 0.0015, "expected_labels": 12},
]


def all_bits(classifiers: list[Classifier]) -> list[Any]:
    return [bits(h) for h in classifiers]


def labels_of(stream: list[Observation]) -> list[Any]:
    return sorted({label for _, labels in stream for label in labels})


@every_learner
@given(streams(), policies())
def test_the_paper_s_algorithm_is_proper(
    learner: Learner, stream: list[Observation], policy: PolicyCase
) -> None:
    tree = OnlineTree(learner, policy.twin(), policy.arity).train(stream)
    leaves = [label for label in tree.label_of if label is not None]
    assert sorted(leaves) == labels_of(stream)
    H, _ = iplt_train(tree, learner, stream)
    assert all_bits(tree.H) == all_bits(H)


@pytest.mark.native
@pytest.mark.parametrize("weights", WEIGHTS, ids=lambda w: w["weights"])
@every_learner
@given(streams(), policies())
@settings(max_examples=40)
def test_the_kernel_is_proper(
    learner: Learner, weights: dict[str, Any], stream: list[Observation], policy: PolicyCase
) -> None:
    model = learn(online_model(learner, **policy.parameters(), **weights), stream)
    assert model.classes_.tolist() == labels_of(stream)
    if len(model.classes_) > 0:
        assert sorted(model.tree_.label[model.tree_.label >= 0]) == list(range(len(model.classes_)))
    fixed, node = incrementally_trained(model, stream)
    H, _ = classifiers(kernel_tree(model), learner.solver)
    expected, auxiliary = classifiers(fixed, learner.solver)
    assert all_bits([H[v] for v in node]) == all_bits(expected)
    assert not any(auxiliary)


@pytest.mark.native
@every_learner
@given(streams(), policies())
@settings(max_examples=60)
def test_the_kernel_does_what_the_paper_says(
    learner: Learner, stream: list[Observation], policy: PolicyCase
) -> None:
    """To the last bit, and for the auxiliary classifiers too."""
    model = learn(online_model(learner, **policy.parameters()), stream)
    twin = OnlineTree(learner, policy.twin(), policy.arity).train(stream)
    H, Theta = classifiers(kernel_tree(model), learner.solver)
    assert all_bits(H) == all_bits(twin.H)
    assert [theta and bits(theta) for theta in Theta] == [theta and bits(theta) for theta in twin.Theta]


@every_learner
@given(streams(max_labels=1))
def test_classifiers_learn_by_the_plain_formulas(learner: Learner, stream: list[Observation]) -> None:
    """Penalties that are put off until a weight is needed are those that come with every example."""
    h, w, squares = learner.new_classifier(), dict[Any, float](), dict[Any, float]()
    for t, (x, labels) in enumerate(stream):
        learner.update(h, x, len(labels))
        z = 2 * len(labels) - 1
        margin = z * sum(w.get(feature, 0) * value for feature, value in x)
        slope = -2 * max(0, 1 - margin) if learner.loss == "squared_hinge" else -1 / (1 + math.exp(margin))
        rate = learner.learning_rate / (1 if learner.solver == "adagrad" else math.sqrt(1 + t))
        shrink = rate * learner.regularization
        if learner.solver == "sgd":
            w = {feature: (1 - shrink) * weight for feature, weight in w.items()}
        for feature, value in x:
            g = z * slope * value
            squares[feature] = squares.get(feature, 0) + g * g
            divisor = math.sqrt(1 + squares[feature]) if learner.solver == "adagrad" else 1
            w[feature] = w.get(feature, 0) - rate * g / divisor
        if learner.solver == "fobos":
            w = {
                feature: math.copysign(max(abs(weight) - shrink, 0), weight) for feature, weight in w.items()
            }
    found = learner.weights(h)
    assert found.keys() == w.keys()
    np.testing.assert_allclose([found[f] for f in w], list(w.values()), rtol=1e-4, atol=2e-5)

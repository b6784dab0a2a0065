"""Properness: whatever tree grows, its classifiers are those of incremental training on that tree from the start."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import documents
from tests.online_models import (
    bits,
    classifiers,
    incrementally_trained,
    kernel_tree,
    learn,
    matrices,
    online_model,
)
from tests.online_streams import LEARNERS, PolicyCase, policies, streams
from tests.reference.online_classifier import Classifier, Learner
from tests.reference.online_tree import Observation, OnlineTree, iplt_train

from labeltree import OnlineLabelTreeClassifier, _native

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


def observations(X: Any, y: Any, order: Iterable[int]) -> list[Observation]:
    return [(list(zip(X[[i]].indices, X[[i]].data, strict=True)), y[[i]].indices) for i in order]


def assert_proper(model: OnlineLabelTreeClassifier, stream: list[Observation], learner: Learner) -> None:
    """The model's regular classifiers are those of the kernel's incremental training on its tree."""
    fixed, node = incrementally_trained(model, stream)
    H, _ = classifiers(kernel_tree(model), learner.solver)
    expected, auxiliary = classifiers(fixed, learner.solver)
    assert all_bits([H[v] for v in node]) == all_bits(expected)
    assert not any(auxiliary)


@every_learner
@given(streams(), policies())
@settings(max_examples=50)
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
@settings(max_examples=25)
def test_the_kernel_is_proper(
    learner: Learner, weights: dict[str, Any], stream: list[Observation], policy: PolicyCase
) -> None:
    model = learn(online_model(learner, **policy.parameters(), **weights), stream)
    assert model.classes_.tolist() == labels_of(stream)
    if len(model.classes_) > 0:
        assert sorted(model.tree_.label[model.tree_.label >= 0]) == list(range(len(model.classes_)))
    assert_proper(model, stream, learner)


@pytest.mark.native
@every_learner
@given(streams(), policies())
@settings(max_examples=40)
def test_the_kernel_does_what_the_paper_says(
    learner: Learner, stream: list[Observation], policy: PolicyCase
) -> None:
    """To the last bit, and for the auxiliary classifiers too."""
    model = learn(online_model(learner, **policy.parameters()), stream)
    twin = OnlineTree(learner, policy.twin(), policy.arity).train(stream)
    H, Theta = classifiers(kernel_tree(model), learner.solver)
    assert all_bits(H) == all_bits(twin.H)
    assert [theta and bits(theta) for theta in Theta] == [theta and bits(theta) for theta in twin.Theta]


@pytest.mark.native
@pytest.mark.parametrize("arity", [2, 16, 40])
@every_learner
def test_the_kernel_is_proper_whatever_the_width_of_blocks(learner: Learner, arity: int) -> None:
    """Vector lanes come in groups of up to 32, and blocks outgrow them."""
    X, y = documents(150, 60, 70, unlabelled=0.1)
    model = online_model(learner, arity=arity, policy="best_fit", alpha=0.9).set_params(normalize=True)
    for rows in np.array_split(np.arange(150), 7):
        model.partial_fit(X[rows], y[rows])
    stream = observations(X, y, range(150))
    assert_proper(model, stream, learner)


@pytest.mark.native
@given(streams(), st.data())
@settings(max_examples=25)
def test_how_examples_are_cut_into_batches_makes_no_difference(
    stream: list[Observation], data: st.DataObject
) -> None:
    """Nor whether each is predicted before it is learned."""
    one_by_one = learn(online_model(LEARNERS[0], arity=3), stream)
    in_batches = online_model(LEARNERS[0], arity=3)
    while stream:
        n = data.draw(st.integers(1, len(stream)))
        X, y = matrices(stream[:n])
        if data.draw(st.booleans()):
            in_batches.partial_fit(X, y)
        else:
            in_batches.predict_then_learn(X, y, k=2)
        stream = stream[n:]
    expected = kernel_tree(one_by_one).state()
    found = kernel_tree(in_batches).state()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.native
@pytest.mark.parametrize("learner", LEARNERS[::2], ids=lambda a: a.solver)
def test_several_passes_are_one_stream(learner: Learner) -> None:
    """Properness holds for `fit`, too: labels of later rows were negative in all rows of the first pass."""
    X, y = documents(40, 30, 15, unlabelled=0.1)
    model = online_model(learner, arity=3, epochs=3, random_state=7).set_params(normalize=True).fit(X, y)
    seed = np.random.RandomState(7).randint(2**31 - 1)
    order = np.concatenate([_native.example_order(seed, epoch, 40) for epoch in range(3)])
    assert all(sorted(part) == list(range(40)) for part in np.split(order, 3))
    stream = observations(X, y, order)
    assert_proper(model, stream, learner)


@every_learner
@given(streams(max_labels=1))
@settings(max_examples=40)
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
            divisor = (
                math.sqrt(learner.initial_accumulator + squares[feature])
                if learner.solver == "adagrad"
                else 1
            )
            w[feature] = w.get(feature, 0) - rate * g / divisor
        if learner.solver == "fobos":
            w = {
                feature: math.copysign(max(abs(weight) - shrink, 0), weight) for feature, weight in w.items()
            }
    found = learner.weights(h)
    assert found.keys() == w.keys()
    np.testing.assert_allclose([found[f] for f in w], list(w.values()), rtol=1e-4, atol=2e-5)

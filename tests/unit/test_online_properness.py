"""Properness: whatever tree grows, its classifiers are those of incremental training on that tree from the start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.online_streams import LEARNERS, streams
from tests.reference.online_classifier import Classifier, Learner
from tests.reference.online_policies import anywhere, best_fit, complete, random_descent
from tests.reference.online_tree import Observation, OnlineTree, Policy, iplt_train


def policies() -> st.SearchStrategy[tuple[Policy, int | None]]:
    """Policies, and how many children make a node one that they never use again."""
    arity, seed = st.integers(2, 4), st.integers(0, 2**32 - 1)
    return st.one_of(
        arity.map(lambda b: (complete(b), b)),
        st.tuples(arity, seed).map(lambda p: (random_descent(*p), p[0])),
        st.tuples(arity, st.sampled_from([0.0, 0.3, 1.0])).map(lambda p: (best_fit(*p), p[0])),
        seed.map(lambda s: (anywhere(s), None)),
    )


def bits(h: Classifier) -> tuple[Any, ...]:
    """All of a classifier: equal if and only if no bit is different."""
    as_bytes = [{f: np.float32(v).tobytes() for f, v in part.items()} for part in (h.w, h.squares)]
    return *as_bytes, h.shrunk, h.penalty, h.n_seen


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: f"{a.solver}-{a.loss}")
@given(streams(), policies())
def test_the_paper_s_algorithm_is_proper(
    learner: Learner, stream: list[Observation], policy: tuple[Policy, int | None]
) -> None:
    tree = OnlineTree(learner, *policy).train(stream)
    assert sorted(label for label in tree.label_of if label is not None) == sorted(
        {label for _, labels in stream for label in labels}
    )
    H, _ = iplt_train(tree, learner, stream)
    assert list(map(bits, tree.H)) == list(map(bits, H))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: f"{a.solver}-{a.loss}")
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

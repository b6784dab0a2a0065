"""Labels that are forgotten, as the twin forgets them: the same tree and the same classifiers, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.online_models import bits, classifiers, kernel_tree, learn, online_model
from tests.online_streams import (
    BIAS,
    LEARNERS,
    PolicyCase,
    anywhere,
    best_fit,
    complete,
    random_descent,
    streams,
)
from tests.reference import online_policies as twins
from tests.reference.online_classifier import Learner
from tests.reference.online_tree import Observation, OnlineTree

from labeltree import OnlineLabelTreeClassifier

pytestmark = pytest.mark.native


def first_open(arity: int) -> PolicyCase:
    """The policy "complete", whose array has holes once labels are forgotten."""
    case = complete(arity)
    return PolicyCase(case.name, case.parameters, lambda: twins.first_open(arity), arity)


def policies() -> st.SearchStrategy[PolicyCase]:
    arity, seed = st.integers(2, 4), st.integers(0, 2**32 - 1)
    return st.one_of(
        st.builds(first_open, arity),
        st.builds(random_descent, arity, seed),
        st.builds(best_fit, arity, st.sampled_from([0.0, 0.3, 1.0])),
        st.builds(anywhere, seed),
    )


def letters(text: str) -> list[Observation]:
    return [([(i % 3, 1.0), (BIAS, 1.0)], [letter]) for i, letter in enumerate(text)]


def assert_same(model: OnlineLabelTreeClassifier, twin: OnlineTree, solver: str) -> None:
    parent, label = kernel_tree(model).structure()
    assert parent.tolist() == twin.parent_of
    assert [model._model.labels.labels[j] if j >= 0 else None for j in label] == twin.label_of
    H, Theta = classifiers(kernel_tree(model), solver)
    assert [bits(h) for h in H] == [bits(h) for h in twin.H]
    assert [theta and bits(theta) for theta in Theta] == [theta and bits(theta) for theta in twin.Theta]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda a: f"{a.solver}-{a.loss}")
@given(
    st.lists(
        st.tuples(streams(max_rows=8), st.sets(st.sampled_from("abcdefghijkl"))), min_size=1, max_size=3
    ),
    policies(),
    st.sampled_from(["map", "dense"]),
)
# Full nodes lose a child, and get others.
@example(
    [(letters("abcdefgh"), set("bg")), (letters("ijklab"), set("a")), (letters("gbabc"), set())],
    first_open(2),
    "map",
)
@example(
    [(letters("abcdefgh"), set("af")), (letters("ijkl"), set("j")), (letters("abcdj"), set())],
    best_fit(3, 1.0),
    "dense",
)
@example([(letters("abcdefgh"), set("abcdefgh")), (letters("cba"), set("b"))], random_descent(2, 0), "map")
@settings(max_examples=25)
def test_forgetting_is_that_of_the_twin(
    learner: Learner, parts: list[tuple[list[Observation], set[str]]], policy: PolicyCase, weights: str
) -> None:
    model = online_model(learner, weights=weights, **policy.parameters())
    twin = OnlineTree(learner, policy.twin(), policy.arity)
    for stream, names in parts:
        learn(model, stream)
        twin.train(stream)
        known = [label for label in twin.label_of if label is not None]
        forgotten: list[Any] = sorted(names.intersection(known))
        if known:  # else the model does not know yet of what kind its labels are
            assert model.forget(labels=forgotten) == len(forgotten)
            twin.forget(forgotten)
        assert_same(model, twin, learner.solver)


@pytest.mark.parametrize("policy", [first_open(2), random_descent(2, 1), best_fit(2, 0.5)], ids=repr)
def test_a_full_node_that_loses_a_child_gets_new_labels(policy: PolicyCase) -> None:
    """Otherwise trees of which labels are forgotten and learned again get ever deeper."""
    model = learn(online_model(LEARNERS[0], **policy.parameters()), letters("abcd"))
    for _ in range(20):
        model.forget(labels=["d"])
        learn(model, letters("d"))
    assert kernel_tree(model).n_nodes == 7

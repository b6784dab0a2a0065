"""Efficiency: growing a tree costs at most twice what training it from the start would, and a walk per new label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.documents import documents
from tests.online_models import incrementally_trained, kernel_tree, learn, online_model
from tests.online_streams import (
    BIAS,
    LEARNERS,
    PolicyCase,
    anywhere,
    best_fit,
    complete,
    policies,
    random_descent,
    streams,
)
from tests.reference.online_tree import Observation, OnlineTree, iplt_train

pytestmark = pytest.mark.native

LEARNER = LEARNERS[0]
CASES = [complete(2), complete(16), random_descent(3, 1), best_fit(4, 0.2), best_fit(16, 1.0), anywhere(5)]
every_policy = pytest.mark.parametrize("policy", CASES, ids=str)


def document_stream(n_rows: int = 200, n_labels: int = 60) -> list[Observation]:
    X, y = documents(n_rows, 80, n_labels, unlabelled=0.1)
    stream = []
    for i in range(n_rows):
        x, labels = X[[i]], y[[i]].indices
        features = list(zip(x.indices.tolist(), x.data.tolist(), strict=True))
        stream.append(([*features, (BIAS, 1.0)], [f"{label:02}" for label in labels]))
    return stream


def depths(tree: Any) -> list[int]:
    """Of all nodes, the root's being 0."""
    parent = tree.structure()[0].tolist()

    def depth(v: int) -> int:
        return 0 if parent[v] < 0 else 1 + depth(parent[v])

    return [depth(v) for v in range(len(parent))]


@given(streams(), policies())
@settings(max_examples=60)
def test_updates_and_classifiers_are_at_most_doubled(stream: list[Observation], policy: PolicyCase) -> None:
    model = learn(online_model(LEARNER, **policy.parameters()), stream)
    twin = OnlineTree(LEARNER, policy.twin(), policy.arity).train(stream)
    _, once = iplt_train(twin, LEARNER, stream)
    counts = model.counts_
    assert counts["n_updates"] == twin.counts.regular <= once.regular
    assert counts["n_auxiliary_updates"] == twin.counts.auxiliary <= once.regular
    assert counts["n_classifiers"] == twin.n_nodes <= max(1, 2 * twin.n_labels - 1)
    assert counts["n_auxiliary"] == sum(theta is not None for theta in twin.Theta) <= twin.n_nodes
    # The kernel's incremental training is what is doubled: it does what algorithm 5 does and nothing else.
    fixed, _ = incrementally_trained(model, stream)
    assert fixed.counts["n_updates"] == once.regular
    assert fixed.counts["n_auxiliary_updates"] == fixed.counts["n_auxiliary"] == 0


@every_policy
def test_weights_are_at_most_doubled(policy: PolicyCase) -> None:
    stream = document_stream()
    model = learn(online_model(LEARNER, **policy.parameters()), stream)
    fixed, _ = incrementally_trained(model, stream)
    grown_size, fixed_size = (len(tree.state()["weight"]) for tree in (kernel_tree(model), fixed))
    assert fixed_size < grown_size <= 2 * fixed_size


@every_policy
def test_a_policy_takes_a_walk_per_new_label(policy: PolicyCase) -> None:
    """Two steps for a complete tree, however large; for the others not more than the tree is deep."""
    model = learn(online_model(LEARNER, **policy.parameters()), [([(BIAS, 1.0)], ["first"])])
    for observation in document_stream():
        n_steps, n_labels = model.counts_["n_policy_steps"], len(model.classes_)
        learn(model, [observation])
        walk = 2 if model.policy == "complete" else 1 + max(depths(kernel_tree(model)))
        assert model.counts_["n_policy_steps"] - n_steps <= walk * (len(model.classes_) - n_labels)
    assert len(model.classes_) > 50


@every_policy
def test_auxiliary_classifiers_go_where_the_policy_never_comes_again(policy: PolicyCase) -> None:
    tree = kernel_tree(learn(online_model(LEARNER, **policy.parameters()), document_stream()))
    state = tree.state()
    n_children = np.diff(state["child_begin"])
    has_auxiliary = state["has_auxiliary"][state["node_block"]].astype(bool)
    np.testing.assert_array_equal(has_auxiliary, n_children < (policy.arity or np.inf))
    assert not state["has_auxiliary"][0]  # the root is nobody's child: nothing comes beside it


def test_a_policy_of_one_s_own_says_where_it_never_comes_again() -> None:
    """With `closes`, a node inserted above others that is full at once included."""

    class Chain:
        """Two children each: a leaf and all the rest."""

        def __call__(self, tree: Any, label: int) -> tuple[int, bool]:
            return tree.root, True

        def closes(self, tree: Any, node: int, n_children: int) -> bool:
            return node != tree.root

    model = learn(online_model(LEARNER, policy=Chain()), document_stream(n_labels=12))
    state = kernel_tree(model).state()
    assert np.diff(state["child_begin"]).max() == 2
    assert max(depths(kernel_tree(model))) == len(model.classes_) - 1
    assert state["has_auxiliary"].sum() == model.counts_["n_auxiliary"] == 1

"""One table of weights for all nodes: every feature of a row has its place there, also where places are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.online_models import BIAS_NUMBER, matrices, online_model
from tests.online_problem import online
from tests.online_streams import BIAS, LEARNERS, streams
from tests.reference.clustering import mixed_seed
from tests.reference.online_classifier import Learner
from tests.reference.online_tree import Observation

from labeltree import LabelTree

pytestmark = pytest.mark.native

#: The places of a table start at every fourth weight: up to four siblings take one.
PLACE = 4


class TableTwin:
    """Algorithm 5 with one table: the place of a feature in the block of a node's children is a hash of both."""

    def __init__(self, tree: LabelTree, learner: Learner, length: int, most_lanes: int) -> None:
        self.tree, self.learner = tree, learner
        self.n_places = (length - most_lanes) // PLACE
        self.table = learner.new_classifier()
        self.children = [list(tree.children(v)) for v in range(tree.n_nodes)]

    def learn(self, x: Any, labels: list[int]) -> None:
        positive: list[int] = []
        for label in labels:
            for v in reversed([int(v) for v in self.tree.path(label)]):
                if v in positive:
                    break
                positive.append(v)
        self._learn_block(0, x, [bool(positive)])
        for v in positive:
            self._learn_block(v + 1, x, [u in positive for u in self.children[v]])

    def _learn_block(self, block: int, x: Any, is_positive: list[bool]) -> None:
        """The scores of a block are all found before any of its weights moves: siblings share no weight."""
        for lane, positive in enumerate(is_positive):
            row = [(self._place(block, feature) + lane, value) for feature, value in x]
            self.learner.update(self.table, row, int(positive))

    def _place(self, block: int, feature: Any) -> int:
        number = BIAS_NUMBER if feature == BIAS else feature
        return PLACE * ((mixed_seed(block, number) >> 32) * self.n_places >> 32)


TREES = [[[0, 1], [[2, 3], 4]], [[0, 1, 2], 3, [4, [5, 6], 7]], [0, 1, 2, 3]]


@pytest.mark.parametrize("nested", TREES, ids=str)
@pytest.mark.parametrize("n_places", [3, 40, 10_000])
@given(
    stream=streams(),
    learner=st.sampled_from([LEARNERS[0], LEARNERS[1], *LEARNERS[-2:]]),
)
@settings(max_examples=20)
def test_the_table_is_that_of_its_twin(
    nested: Any, n_places: int, stream: list[Observation], learner: Learner
) -> None:
    """Bit for bit, where nearly all features meet, some, or none."""
    tree = LabelTree.from_nested(nested)
    names = list("abcdefgh"[: tree.n_labels])
    observations = [(x, [label for label in labels if label in names]) for x, labels in stream]
    model = online_model(
        learner,
        weights="shared",
        memory_mb=8 * (PLACE * n_places + 8) / 2**20,
        arity=4,
        tree=tree,
        policy="fixed",
    )
    for i, observation in enumerate(observations):
        model.partial_fit(*matrices([observation]), classes=names if i == 0 else None)
    (kernel,) = model._model.trees
    weights, squares = np.split(kernel.state()["table"], 2)
    twin = TableTwin(tree, learner, len(weights), model._model.settings.most_lanes)
    assert twin.n_places == n_places
    for x, labels in observations:
        twin.learn(x, [names.index(label) for label in labels])
    for found, expected in ((weights, twin.table.w), (squares, twin.table.squares)):
        whole = np.zeros(len(found), dtype=np.float32)
        whole[list(expected)] = list(expected.values())
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_without_collisions_the_table_has_the_weights_of_maps(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 6)) * (rng.random((60, 6)) < 0.6)
    y = [sorted({int(label) for label in rng.integers(0, 5, size=2)}) for _ in range(60)]
    tree = LabelTree.from_nested(TREES[0])
    same = {"tree": tree, "policy": "fixed", "loss": loss, "random_state": 0}
    maps, table = online(**same), online(**same, arity=2, weights="shared", memory_mb=16)
    for model in (maps, table):
        model.partial_fit(X, y)
    expected, found = (model.predict_proba(X, top_k=None).toarray() for model in (maps, table))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_features", [1, 3])
def test_rows_that_differ_in_one_feature_are_told_apart(bias: bool, n_features: int) -> None:
    """Whichever it is: the first, one in the middle, or the last."""
    for position in range(n_features):
        rows = np.zeros((4, 4 * n_features))
        for i in range(4):
            columns = [4 * place + (i if place == position else 0) for place in range(n_features)]
            rows[i, columns] = 1
        names = [["a"], ["b"], ["c"], ["d"]]
        model = online(weights="shared", memory_mb=1, bias=bias, arity=4)
        for _ in range(30):
            model.partial_fit(rows, names)
        assert model.predict_topk(rows, 1).labels.tolist() == names

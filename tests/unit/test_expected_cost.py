"""What a tree will cost: against the literal assignment of rows to nodes, and against what search asks."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.documents import documents
from tests.reference.assignment import assign_to_nodes
from tests.strategies import label_rows, label_trees

from labeltree import LabelTreeClassifier
from labeltree.trees import LabelTree, cheapest_tree, huffman_tree, random_tree


@given(label_trees(), st.data())
def test_costs_are_those_of_brute_force(tree: LabelTree, data: st.DataObject) -> None:
    rows = data.draw(label_rows(tree.n_labels).filter(bool))
    y = np.zeros((len(rows), tree.n_labels))
    for i, labels in enumerate(rows):
        y[i, labels] = 1
    X = np.random.default_rng(len(rows)).integers(0, 2, (len(rows), 7))
    assigned = [assign_to_nodes(tree, labels) for labels in rows]
    n_nodes = [len(P) + len(N) for P, N in assigned]
    n_blocks = [sum(not tree.is_leaf[v] for v in P) for P, _ in assigned]
    n_passes = [sum(-(-len(tree.children(v)) // 32) for v in P if not tree.is_leaf[v]) for P, _ in assigned]
    depth = [len(tree.path(label)) - 1 for labels in rows for label in labels]

    for given_y, given_X in [
        (y, X),
        (sp.csr_array(y), sp.csr_array(X)),
        (sp.csc_matrix(y), sp.csc_matrix(X)),
    ]:
        cost = tree.expected_cost(given_y, given_X)
        assert cost.nodes == pytest.approx(np.mean(n_nodes))
        assert cost.blocks == pytest.approx(np.mean(n_blocks))
        assert cost.passes == pytest.approx(np.mean(n_passes))
        assert cost.feature_visits == pytest.approx(np.mean(n_passes * X.sum(axis=1)))
        assert cost.label_depth == pytest.approx(np.mean(depth) if depth else 0)
        assert cost.depth == tree.depth
        assert cost.multiplications == pytest.approx(np.mean(n_nodes * X.sum(axis=1)))
    assert tree.expected_cost(y).multiplications is None


@pytest.mark.native
def test_a_sure_model_asks_as_many_nodes_as_are_told() -> None:
    """One label a row and features that give it away: search opens only the label's path."""
    labels = np.arange(200) % 20
    X, y = sp.csr_matrix(np.eye(20)[labels]), sp.csr_matrix(np.eye(20)[labels])
    for tree in (LabelTree.flat(20), random_tree(20, 2, 2, random_state=0), huffman_tree(np.arange(20), 3)):
        model = LabelTreeClassifier(tree=tree, C=100.0, tol=1e-3, max_iter=200).fit(X, y)
        evaluations = model.predict_topk(X, k=1, return_evaluations=True)[2]
        assert evaluations.mean() == pytest.approx(tree.expected_cost(y).nodes)


@pytest.mark.parametrize(("width", "passes"), [(1, 1), (2, 1), (32, 1), (33, 2), (64, 2), (65, 3)])
def test_a_pass_serves_32_siblings(width: int, passes: int) -> None:
    assert LabelTree.flat(width).expected_cost(np.eye(width)).passes == passes


def test_the_cheapest_is_chosen() -> None:
    _, y = documents(100, 20, 300)
    counts = np.asarray(y.sum(axis=0)).ravel()
    single = sp.csr_matrix(np.eye(300)[np.repeat(np.arange(300), counts.astype(int))])
    trees = [LabelTree.flat(300), random_tree(300, 8, 1, random_state=0), huffman_tree(counts, 8)]
    # With one label a row, Huffman's tree is the best of its arity.
    assert cheapest_tree(trees, single) is trees[2]
    costs = [tree.expected_cost(y).passes for tree in trees]
    assert cheapest_tree(trees, y) is trees[int(np.argmin(costs))]
    assert cheapest_tree([trees[0], LabelTree.flat(300)], y) is trees[0]


def test_rows_count_by_their_features() -> None:
    trees = [LabelTree.from_nested([0, [1, [2, 3]]]), LabelTree.from_nested([3, [2, [1, 0]]])]
    y = np.eye(4)[[0, 0, 3]]
    assert cheapest_tree(trees, y) is trees[0]
    assert cheapest_tree(trees, y, np.array([[1, 0, 0], [1, 0, 0], [1, 1, 1]])) is trees[1]


def test_text() -> None:
    y, X = np.eye(2), np.array([[1, 1], [0, 1]])
    told = "3 nodes, 1 blocks and 1 passes a row; labels at depth 1 of 1"
    assert str(LabelTree.flat(2).expected_cost(y)) == told
    told = told.replace(";", ", 4.5 multiplications and 1.5 feature visits;")
    assert str(LabelTree.flat(2).expected_cost(y, X)) == told
    with pytest.raises(FrozenInstanceError):
        LabelTree.flat(2).expected_cost(y).nodes = 3  # type: ignore[misc] # that is the point


@pytest.mark.parametrize(
    ("y", "X", "message"),
    [
        (np.eye(3), None, "a column per label, that is 2, but has 3"),
        (np.empty((0, 2)), None, "at least one row, but has none"),
        ([[0, 1]], None, "a sparse matrix or a 2-d array, but is of type list"),
        (
            np.eye(2),
            np.eye(3),
            r"a row for each of the 2 rows of y, but is of type ndarray and shape \(3, 3\)",
        ),
        (np.eye(2), [[1], [1]], "but is of type list"),
    ],
)
def test_refusals(y: Any, X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTree.flat(2).expected_cost(y, X)


def test_no_trees_are_refused() -> None:
    with pytest.raises(ValueError, match="trees must hold at least one tree"):
        cheapest_tree([], np.eye(2))

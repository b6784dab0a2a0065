"""The cost c(T, y) of training, against the literal assignment of examples to nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix
from tests.reference.assignment import assign_to_nodes, training_sets
from tests.strategies import label_rows, label_trees

from labeltree.trees import LabelTree, training_cost


def as_csr(rows: list[list[int]], n_labels: int) -> csr_array:
    y = np.zeros((len(rows), n_labels), dtype=np.float32)
    for row, labels in enumerate(rows):
        y[row, labels] = 1
    return csr_array(y)


@given(label_trees(), st.data())
def test_cost_is_the_number_of_positive_and_negative_nodes(tree: LabelTree, data: st.DataObject) -> None:
    rows = data.draw(label_rows(tree.n_labels))
    cost = tree.training_cost(as_csr(rows, tree.n_labels))
    assert cost.shape == (len(rows),)
    for labels, c in zip(rows, cost, strict=True):
        P, N = assign_to_nodes(tree, labels)
        assert c == len(P) + len(N)
        assert c == 1 + sum(int(tree.parent[v]) in P for v in range(1, tree.n_nodes))
        assert c <= 1 + len(labels) * tree.depth * tree.arity
    assert cost.sum() == sum(map(len, training_sets(tree, rows)))


def test_assignment_of_an_example() -> None:
    tree = LabelTree.from_nested([[0, 1], [2, 3], 4])
    assert assign_to_nodes(tree, [0, 4]) == ({0, 1, 3, 4}, {2, 5})
    assert assign_to_nodes(tree, []) == (set(), {0})


def test_order_duplicates_and_explicit_zeros_do_not_matter() -> None:
    tree = LabelTree.from_nested([[0, 1], [2, 3], [4, [5, 6]]])
    y = csr_array(
        (np.array([1, 1, 1, 0, 1, 1]), np.array([6, 0, 6, 3, 2, 0]), np.array([0, 4, 4, 6])), shape=(3, 7)
    )
    tidy = csr_array(np.array([[1, 0, 0, 0, 0, 0, 1], [0] * 7, [1, 0, 1, 0, 0, 0, 0]]))
    assert tree.training_cost(y).tolist() == tree.training_cost(tidy).tolist() == [10, 1, 8]


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, coo_array])
def test_kinds_of_y(kind: type) -> None:
    y = kind(np.array([[1, 0, 0], [0, 0, 0]]))
    assert LabelTree.from_nested([[0, 1], 2]).training_cost(y).tolist() == [5, 1]


@pytest.mark.parametrize("labels_per_chunk", [1, 7, 100])
def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch, labels_per_chunk: int) -> None:
    rng = np.random.default_rng(3)
    tree = LabelTree.from_nested([[[0, 1], 2, 3], [4, [5, 6, [7]], 8], 9])
    y = csr_array(rng.random((50, 10)) < 0.2)
    whole = tree.training_cost(y)
    monkeypatch.setattr(training_cost, "_LABELS_PER_CHUNK", labels_per_chunk)
    assert tree.training_cost(y).tolist() == whole.tolist()


def test_y_that_does_not_fit_is_refused() -> None:
    tree = LabelTree.flat(3)
    with pytest.raises(ValueError, match="a column per label, that is 3, but has 4"):
        tree.training_cost(csr_array((2, 4)))
    with pytest.raises(ValueError, match="a sparse matrix or a 2-d array, but is of type list"):
        tree.training_cost([[0], [1]])

"""The way down of the exchange: the targets of a batch are those of the paper's algorithm 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.assignment import assign_to_nodes
from tests.strategies import label_rows, label_trees

from labeltree import LabelTree
from labeltree.exchange import NodeTargets, node_targets
from labeltree.exchange.blocks import Paths

TREE = LabelTree.from_nested([[0, 1], [2, 3]])
NAMES = ["ape", "cat", "dog", "eel"]


def indicator(rows: list[list[int]], n_labels: int) -> sp.csr_matrix:
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([label for row in rows for label in row], dtype=np.int32)
    return sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(rows), n_labels))


def as_set(targets: NodeTargets) -> set[tuple[int, int, float]]:
    return set(zip(targets.row.tolist(), targets.node.tolist(), targets.target.tolist(), strict=True))


@settings(max_examples=40)
@given(st.data())
def test_targets_are_those_of_the_paper(data: st.DataObject) -> None:
    tree = data.draw(label_trees())
    rows = data.draw(label_rows(tree.n_labels))
    y = indicator(rows, tree.n_labels)
    targets = node_targets(tree, y)
    expected = set()
    for i, labels in enumerate(rows):
        positive, negative = assign_to_nodes(tree, labels)
        expected |= {(i, v, 1.0) for v in positive} | {(i, v, 0.0) for v in negative}
    assert as_set(targets) == expected
    assert len(targets) == len(expected)
    assert sorted(zip(targets.row, targets.node, strict=True)) == list(
        zip(targets.row, targets.node, strict=True)
    )
    np.testing.assert_array_equal(np.bincount(targets.row, minlength=len(rows)), tree.training_cost(y))


@settings(max_examples=40)
@given(st.data())
def test_blocks_are_the_siblings_below_positive_nodes(data: st.DataObject) -> None:
    tree = data.draw(label_trees())
    rows = data.draw(label_rows(tree.n_labels))
    targets = node_targets(tree, indicator(rows, tree.n_labels))
    assert targets.begin[0] == 0
    assert targets.begin[-1] == len(targets)
    for i, (row, parent) in enumerate(zip(targets.block_row, targets.parent, strict=True)):
        entries = slice(targets.begin[i], targets.begin[i + 1])
        siblings = range(1) if parent < 0 else tree.children(parent)
        assert targets.node[entries].tolist() == list(siblings)
        assert (targets.row[entries] == row).all()
        assert parent < 0 or set(tree.labels_under(parent)) & set(rows[row])
    blocks = {}
    for nodes, block_rows, entries in targets.by_parent():
        assert targets.node[entries].tolist() == [list(nodes)] * len(block_rows)
        assert (targets.row[entries] == block_rows[:, np.newaxis]).all()
        blocks[nodes] = entries
    assert len(blocks) == len(set(targets.parent.tolist()))
    assert sorted(np.concatenate([e.ravel() for e in blocks.values()] or [[]])) == list(range(len(targets)))


ROWS = [[1, 3], [0]]
EXPECTED = as_set(node_targets(TREE, indicator(ROWS, 4)))


@pytest.mark.parametrize(
    "y",
    [
        [[1, 3], [0]],
        [(3, 1, 1), {0}],
        np.array([[0, 1, 0, 1], [1, 0, 0, 0]]),
        [[0, 1, 0, 1], [1, 0, 0, 0]],
        pd.DataFrame([[0, 1, 0, 1], [1, 0, 0, 0]]),
        pd.Series([[1, 3], [0]]),
        indicator(ROWS, 4).tocsc(),
    ],
)
def test_labels_in_every_form(y: Any) -> None:
    assert as_set(node_targets(TREE, y)) == EXPECTED


def test_labels_by_name() -> None:
    assert as_set(node_targets(TREE, [["eel", "cat"], ["ape"]], classes=NAMES)) == EXPECTED
    one_each = as_set(node_targets(TREE, np.array(["cat", "ape"]), classes=np.array(NAMES, dtype=object)))
    assert one_each == as_set(node_targets(TREE, [[1], [0]]))


def test_rows_without_labels_train_the_root() -> None:
    targets = node_targets(TREE, [[], []])
    assert as_set(targets) == {(0, 0, 0.0), (1, 0, 0.0)}
    assert len(node_targets(TREE, sp.csr_matrix((0, 4)))) == 0


def test_arrays_are_ready_to_be_tensors() -> None:
    targets = node_targets(TREE, [[1]])
    arrays = vars(targets)
    assert {name: array.dtype.name for name, array in arrays.items()} == {
        **dict.fromkeys(("block_row", "parent", "begin", "row", "node"), "int64"),
        "target": "float32",
    }
    assert all(array.flags.c_contiguous and array.flags.writeable for array in arrays.values())


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        (np.array([[1, 0, 1], [0, 1, 0]]), None, "a column for each of 4 labels, but has 3"),
        ([[0, 1], [1, 0]], None, "pass tuples if these are labels"),
        ([[4]], None, "4 is not a label"),
        ([["cow"]], NAMES, "'cow' is not a label"),
        ([["cat"]], NAMES[:3], "classes must name the tree's 4 labels, got 3 names"),
        ([["cat"], "ape"], NAMES, "y, row 1: expected a list of labels"),
    ],
)
def test_what_is_refused(y: Any, classes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        node_targets(TREE, y, classes=classes)


def test_paths_in_a_flat_tree_of_many_labels_need_little_memory() -> None:
    n_rows, tree = 20_000, LabelTree.flat(200_000)  # all nodes of all rows would be 32 GB
    paths = Paths(tree, np.arange(n_rows), np.arange(n_rows))
    assert len(paths.node) == 2 * n_rows

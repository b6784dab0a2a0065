"""LabelTree: what it computes, against brute force on nested lists, and how it is made and refused."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import label_trees, nested_labels

from labeltree.trees import LabelTree


def breadth_first(nested: list[Any]) -> list[Any]:
    """The lists and labels in a nested list, level by level."""
    nodes: list[Any] = []
    level: list[Any] = [nested]
    while level:
        nodes += level
        level = [child for item in level if isinstance(item, list) for child in item]
    return nodes


def flattened(item: Any) -> list[int]:
    return [label for child in item for label in flattened(child)] if isinstance(item, list) else [item]


def height(item: Any) -> int:
    return 1 + max(height(child) for child in item) if isinstance(item, list) else 0


class TestStructure:
    @given(nested_labels())
    def test_numbers_agree_with_brute_force(self, nested: list[Any]) -> None:
        tree = LabelTree.from_nested(nested)
        nodes = breadth_first(nested)
        assert tree.n_nodes == len(nodes)
        assert tree.n_labels == len(flattened(nested))
        assert tree.n_blocks == tree.n_nodes - tree.n_labels
        assert tree.depth == height(nested)
        assert tree.arity == max(len(item) for item in nodes if isinstance(item, list))
        assert tree.label.tolist() == [-1 if isinstance(item, list) else item for item in nodes]
        assert tree.is_leaf.tolist() == [not isinstance(item, list) for item in nodes]
        assert tree.inner_nodes.tolist() == [v for v, item in enumerate(nodes) if isinstance(item, list)]
        assert [tree.label[leaf] for leaf in tree.leaf_of_label] == list(range(tree.n_labels))

    @given(nested_labels())
    def test_every_node_agrees_with_its_list(self, nested: list[Any]) -> None:
        tree = LabelTree.from_nested(nested)
        for node, item in enumerate(breadth_first(nested)):
            assert tree.labels_under(node).tolist() == flattened(item)
            assert tree.n_labels_of_node[node] == len(flattened(item))
            children = tree.children(node)
            assert [tree.labels_under(child).tolist() for child in children] == (
                [flattened(child) for child in item] if isinstance(item, list) else []
            )
            assert all(tree.parent[child] == node for child in children)

    @given(label_trees())
    def test_layout_is_as_the_kernel_expects(self, tree: LabelTree) -> None:
        assert tree.child_begin.dtype == tree.label.dtype == np.int32
        assert tree.child_begin.size == tree.n_nodes + 1
        assert (tree.child_begin[0], tree.child_begin[-1]) == (1, tree.n_nodes)
        assert sorted(tree.label[tree.is_leaf]) == list(range(tree.n_labels))
        assert tree.parent[0] == -1
        assert (tree.parent[1:] < np.arange(1, tree.n_nodes)).all()

    @given(label_trees())
    def test_paths_and_levels(self, tree: LabelTree) -> None:
        for label in range(tree.n_labels):
            path = tree.path(label)
            assert path[0] == 0
            assert tree.label[path[-1]] == label
            assert tree.depth_of_node[path].tolist() == list(range(path.size))
            assert all(child in tree.children(node) for node, child in pairwise(path))
        assert tree.depth == max(tree.path(label).size for label in range(tree.n_labels)) - 1
        levels = tree.levels()
        assert [node for level in levels for node in level] == list(range(tree.n_nodes))
        assert all((tree.depth_of_node[list(level)] == d).all() for d, level in enumerate(levels))

    def test_example(self) -> None:
        tree = LabelTree.from_nested([[4, 0], 3, [[1, 2]]])
        assert tree.child_begin.tolist() == [1, 4, 6, 6, 7, 7, 7, 9, 9, 9]
        assert tree.label.tolist() == [-1, -1, 3, -1, 4, 0, -1, 1, 2]
        assert tree.parent.tolist() == [-1, 0, 0, 0, 1, 1, 3, 6, 6]
        assert tree.depth_of_node.tolist() == [0, 1, 1, 1, 2, 2, 2, 3, 3]
        assert tree.leaf_of_label.tolist() == [5, 7, 8, 2, 4]
        assert tree.labels_under(0).tolist() == [4, 0, 3, 1, 2]
        assert tree.path(2).tolist() == [0, 3, 6, 8]
        assert repr(tree) == "LabelTree(n_labels=5, n_nodes=9, depth=3, arity=3)"

    @pytest.mark.parametrize("node", [-1, 4])
    def test_unknown_nodes_are_refused(self, node: int) -> None:
        tree = LabelTree.flat(3)
        with pytest.raises(ValueError, match=f"node must be from 0 to 3, but is {node}"):
            tree.children(node)
        with pytest.raises(ValueError, match=f"node must be from 0 to 3, but is {node}"):
            tree.labels_under(node)

    @pytest.mark.parametrize("label", [-1, 3])
    def test_unknown_labels_are_refused(self, label: int) -> None:
        with pytest.raises(ValueError, match=f"label must be from 0 to 2, but is {label}"):
            LabelTree.flat(3).path(label)


class TestValue:
    @given(label_trees(), label_trees())
    def test_equal_when_the_same_tree(self, first: LabelTree, second: LabelTree) -> None:
        assert (first == second) == (first.to_nested() == second.to_nested())
        assert first == LabelTree(first.child_begin, first.label)
        assert first != first.to_nested()

    @given(label_trees())
    def test_pickles_and_copies(self, tree: LabelTree) -> None:
        assert pickle.loads(pickle.dumps(tree)) == tree
        assert copy.deepcopy(tree) == tree

    @pytest.mark.parametrize(
        "name",
        [
            *("child_begin", "label", "parent", "leaf_of_label", "depth_of_node"),
            *("n_labels_of_node", "inner_nodes", "is_leaf"),
        ],
    )
    def test_arrays_are_read_only(self, name: str) -> None:
        tree = LabelTree.from_nested([[0, 1], 2])
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            tree.labels_under(0)[0] = 0

    def test_arrays_that_were_given_stay_writeable_and_apart(self) -> None:
        child_begin, label = np.array([1, 3, 3, 3], dtype=np.int32), np.array([-1, 0, 1], dtype=np.int32)
        tree = LabelTree(child_begin, label)
        label[1] = 7
        child_begin[1] = 2
        assert tree == LabelTree.flat(2)

    @pytest.mark.parametrize("name", ["child_begin", "label"])
    def test_attributes_cannot_be_replaced(self, name: str) -> None:
        with pytest.raises(AttributeError):
            setattr(LabelTree.flat(2), name, np.arange(3))


class TestConversion:
    @given(nested_labels())
    def test_nested_lists_there_and_back(self, nested: list[Any]) -> None:
        assert LabelTree.from_nested(nested).to_nested() == nested

    @given(label_trees())
    def test_json_there_and_back(self, tree: LabelTree) -> None:
        assert LabelTree.from_json(tree.to_json()) == tree
        assert LabelTree.from_json(tree.to_json().encode()) == tree
        assert LabelTree.from_json(json.dumps(tree.to_nested())) == tree

    @given(label_trees())
    def test_triples_there_and_back(self, tree: LabelTree) -> None:
        triples = tree.to_triples()
        assert triples.shape == (tree.n_nodes, 3)
        assert LabelTree.from_triples(triples) == tree
        rows = [[None if value == -1 else value for value in row] for row in triples.tolist()]
        assert LabelTree.from_triples(iter(rows)) == tree

    @given(label_trees(), st.data())
    def test_triples_in_any_order_with_any_ids(self, tree: LabelTree, data: st.DataObject) -> None:
        ids = data.draw(st.permutations([v * 10**10 + 3 for v in range(tree.n_nodes)]))
        triples = [
            (-1 if parent == -1 else ids[parent], ids[node], label)
            for parent, node, label in tree.to_triples().tolist()
        ]
        shuffled = data.draw(st.permutations(triples))
        children: dict[int, list[tuple[int, int]]] = {}
        for parent, node, label in shuffled:
            children.setdefault(parent, []).append((node, label))

        def nested(node: int) -> list[Any]:
            return [nested(child) if label == -1 else label for child, label in children[node]]

        assert LabelTree.from_triples(shuffled).to_nested() == nested(children[-1][0][0])
        assert LabelTree.from_triples(triples) == tree

    @given(label_trees(), st.data())
    def test_parents_in_any_order(self, tree: LabelTree, data: st.DataObject) -> None:
        place = data.draw(st.permutations(range(tree.n_nodes)))
        parent, label = np.full(tree.n_nodes, -1), np.empty(tree.n_nodes, dtype=int)
        for v in range(tree.n_nodes):
            label[place[v]] = tree.label[v]
            parent[place[v]] = -1 if v == 0 else place[tree.parent[v]]

        def nested(node: int) -> Any:
            return (
                [nested(v) for v in np.flatnonzero(parent == node).tolist()]
                if label[node] == -1
                else label[node]
            )

        assert LabelTree.from_parents(parent, label).to_nested() == nested(place[0])

    def test_flat(self) -> None:
        assert LabelTree.flat(4) == LabelTree.from_nested([0, 1, 2, 3])
        with pytest.raises(ValueError, match="n_labels must be 1 or more, but is 0"):
            LabelTree.flat(0)

    def test_a_bare_leaf_gets_a_root(self) -> None:
        one = LabelTree.flat(1)
        assert (one.n_nodes, one.n_labels, one.depth, one.arity) == (2, 1, 1, 1)
        assert LabelTree.from_nested(0) == one
        assert LabelTree.from_nested([0]) == one
        assert LabelTree.from_triples([(-1, 5, 0)]) == one
        assert LabelTree.from_parents([-1], [0]) == one

    def test_tuples_and_numpy_integers_are_taken(self) -> None:
        nested: Any = ((np.int64(1), 0), [np.uint8(2)])
        assert LabelTree.from_nested(nested).to_nested() == [[1, 0], [2]]

    def test_deep_trees_do_not_exhaust_the_stack(self) -> None:
        depth = 5 * sys.getrecursionlimit()
        nested: list[Any] = [0]
        for label in range(1, depth):
            nested = [nested, label]
        tree = LabelTree.from_nested(nested)
        assert tree.depth == depth
        assert tree.path(0).size == depth + 1
        assert tree.labels_under(0).tolist() == list(range(depth))
        assert LabelTree.from_nested(tree.to_nested()) == tree
        assert LabelTree.from_triples(tree.to_triples()) == tree
        assert LabelTree.from_json(tree.to_json()) == tree
        assert tree.draw().startswith(f"root ({depth:,} labels)\n├── node 1 ({depth - 1:,} labels)\n")

    def test_json_nested_too_deeply_is_refused(self) -> None:
        with pytest.raises(ValueError, match="nested too deeply"):
            LabelTree.from_json("[" * 200_000 + "0" + "]" * 200_000)


class TestRefusals:
    @pytest.mark.parametrize(
        ("child_begin", "label", "message"),
        [
            ([1, 3, 3], [-1, 0, 1], "one entry more than label, that is 4, but has 3"),
            ([1, 1], [0], "a root and at least one leaf below it, but n_nodes is 1"),
            ([], [], "one entry more than label, that is 1, but has 0"),
            ([0, 3, 3, 3], [-1, 0, 1], "start with 1 and end with the number of nodes, 3, but starts with 0"),
            ([1, 2, 2, 2], [-1, 0, 1], "and ends with 2"),
            ([1, 3, 2, 3], [-1, 0, -1], r"child_begin\[1\] is 3 and child_begin\[2\] is 2"),
            ([1, 1, 3, 3], [0, -1, 1], r"breadth first.* but child_begin\[1\] is 1"),
            ([1, 2, 2, 4, 4], [-1, 0, -1, 1], r"breadth first.* but child_begin\[2\] is 2"),
            ([1, 2, 2**31], [-1, 0], r"child_begin\[2\] is 2147483648"),
            ([1.0, 3.0, 3.0, 3.0], [-1, 0, 1], "child_begin must be a 1-d array of integers.*float64"),
            ([1, 3, 3, 3], [[-1, 0, 1]], "label must be a 1-d array of integers, but is 2-d"),
            ([1, 3, 3, 3], [-1, [0], 1], "label must be a 1-d array of integers, but is no array"),
            ([1, 3, 3, 3], [True, False, True], "label must be a 1-d array of integers.*bool"),
            ([1, 3, 3, 3], [-1, -2, 1], r"label\[1\] is -2"),
            ([1, 3, 3, 3], [2, 0, 1], "node 0 has children and label 2, but only leaves have labels"),
            ([1, 3, 3, 3], [-1, 0, -1], "node 2 has neither children nor a label"),
            ([1, 3, 3, 3], [-1, 1, 1], "label 1 is at 2 leaves, among them node 1 and node 2"),
            ([1, 3, 3, 3], [-1, 2, 1], "label 0 is missing: .* labels 0 to 1, .* node 1 has label 2"),
        ],
    )
    def test_arrays(self, child_begin: Any, label: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LabelTree(child_begin, label)

    @pytest.mark.parametrize(
        ("parent", "label", "message"),
        [
            ([], [], "exactly one node, the root, must have the parent -1, but none has"),
            ([1, 0], [-1, -1], "the root, must have the parent -1, but none has"),
            ([-1, 0, -1], [-1, 0, 1], r"must have the parent -1, but 2 have: \[0, 2\]"),
            ([-1, 0, 7], [-1, 0, 1], "node 2 has the parent 7, but the nodes are 0 to 2"),
            ([-1, -2], [-1, 0], r"parent must hold integers from -1 to 2147483647, but parent\[1\] is -2"),
            ([-1, 0], [-1, 0, 1], "one entry per node each, but have 2 and 3"),
            ([-1, 0, 3, 4, 2, 4], [-1, 0, -1, -1, -1, 1], "own ancestors .*: 2 -> 3 -> 4 -> 2"),
            ([-1, 0, 2], [-1, 0, -1], "own ancestors .*: 2 -> 2"),
            ([-1, 0, 0], [-1, 0, 0], "label 0 is at 2 leaves, among them node 1 and node 2"),
        ],
    )
    def test_parents(self, parent: Any, label: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LabelTree.from_parents(parent, label)

    def test_long_cycles_are_shortened(self) -> None:
        parent = [-1, 0, *range(3, 20), 2]
        with pytest.raises(ValueError, match=r": 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> … -> 2"):
            LabelTree.from_parents(parent, [-1, 0, *[-1] * 18])

    @pytest.mark.parametrize(
        ("triples", "message"),
        [
            ([], "must have the parent -1, but none has"),
            ([(-1, 10, -1), (10, 11)], r"triple 1 is \(10, 11\)"),
            ([(-1, 10, -1), 5], "triple 1 is 5"),
            (np.zeros((2, 2), dtype=int), r"shape \(n, 3\), but the shape is \(2, 2\)"),
            ([(-1, 10, -1), (10, "a", 0)], "node must be a 1-d array of integers"),
            ([(-1, 10, -1), (10, 11, 0.5)], "label must be a 1-d array of integers"),
            ([(-1, 10, -1), (10, -3, 0)], "node ids must be 0 or more, but triple 1 is about node -3"),
            ([(-1, 10, -1), (10, 11, 0), (10, 11, 1)], "triples 1 and 2 are both about node 11"),
            ([(10, 11, 0), (10, 12, 1)], r"node 11 has the parent 10, .* given as \(-1, root, -1\)"),
            ([(-1, 10, -1), (10, 11, 0), (99, 12, 1)], "node 12 has the parent 99"),
            ([(-1, 10, -1), (-1, 20, -1), (10, 11, 0)], r"2 have: \[10, 20\]"),
            ([(-1, 10, -1), (10, 11, 0), (30, 20, -1), (20, 30, -1)], "20 -> 30 -> 20"),
            ([(-1, 10, -1), (10, 11, -1)], "node 11 has neither children nor a label"),
            ([(-1, 10, 1), (10, 11, 0)], "node 10 has children and label 1"),
            ([(-1, 10, -1), (10, 11, 0), (10, 12, 0)], "among them node 11 and node 12"),
            ([(-1, 10, -1), (10, 11, 1), (10, 12, 2)], "label 0 is missing: .*node 12 has label 2"),
        ],
    )
    def test_triples(self, triples: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LabelTree.from_triples(triples)

    @pytest.mark.parametrize(
        ("nested", "message"),
        [
            ([], "nested is an empty list"),
            ([[0, 1], [2, []]], r"nested\[1\]\[1\] is an empty list"),
            ([0, [1, [2, "b"]]], r"nested\[1\]\[1\]\[1\] must be a label .*, but is 'b'"),
            ([0, -1], r"nested\[1\] must be a label .*, but is -1"),
            ([0, True], r"nested\[1\] must be a label .*, but is True"),
            ([0, 2**40], r"nested\[1\] must be a label .*, but is 1099511627776"),
            (0.5, r"nested must be a label .*, but is 0.5"),
            ([0, [1, 0]], "label 0 is at 2 leaves"),
            ([0, [1, 3]], "label 2 is missing"),
            (1, "label 0 is missing"),
        ],
    )
    def test_nested(self, nested: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LabelTree.from_nested(nested)

    def test_lists_that_contain_themselves(self) -> None:
        endless: list[Any] = [0]
        endless.append([1, endless])
        with pytest.raises(ValueError, match=r"nested\[1\]\[1\] is a list that is also elsewhere"):
            LabelTree.from_nested(endless)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "must be given as JSON"),
            ('{"parent": [-1, 0]', "must be given as JSON"),
            (b"\xff\xfe\xfd", "must be given as JSON"),
            ('{"parent": [-1, 0]}', r"but got the keys \['parent'\]"),
            ('{"parent": [-1, 0], "label": [-1, 0], "name": 1}', r"\['label', 'name', 'parent'\]"),
            ("3", "but got one int"),
            ('{"parent": [-1, 0], "label": [-1, "a"]}', "label must be a 1-d array of integers"),
            ('{"parent": [-1, 0], "label": [-1, null]}', "label must be a 1-d array of integers"),
            ('{"parent": [-1, 0], "label": [-1, 1e400]}', "label must be a 1-d array of integers"),
            ('{"parent": [-1, 0], "label": [-1, 99999999999999999999]}', "label must"),
            ('{"parent": {}, "label": [-1, 0]}', "parent must be a 1-d array of integers"),
            ("[0, null]", r"nested\[1\] must be a label"),
        ],
    )
    def test_json(self, text: str | bytes, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LabelTree.from_json(text)

    @given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 3)), max_size=6))
    def test_parents_are_a_tree_or_refused(self, nodes: list[tuple[int, int]]) -> None:
        parent, label = [node[0] for node in nodes], [node[1] for node in nodes]

        def reaches_the_root(node: int) -> bool:
            for _ in range(len(nodes)):
                if node == -1:
                    return True
                node = parent[node]
            return node == -1

        leaves = [v for v in range(len(nodes)) if v not in parent]
        is_tree = (
            parent.count(-1) == 1
            and all(p < len(nodes) for p in parent)
            and all(map(reaches_the_root, range(len(nodes))))
            and sorted(label[v] for v in leaves) == list(range(len(leaves)))
            and all(label[v] == -1 for v in range(len(nodes)) if v not in leaves)
        )
        if is_tree:
            assert LabelTree.from_parents(parent, label).n_labels == len(leaves)
        else:
            with pytest.raises(ValueError, match=r"\w"):
                LabelTree.from_parents(parent, label)

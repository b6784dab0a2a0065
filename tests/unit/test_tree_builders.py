"""Trees by frequency, at random and collapsed: against brute force, and what they promise."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.trees import cheapest_paths, collapsed, huffman_cost
from tests.strategies import nested_labels

from labeltree.trees import (
    LabelTree,
    complete_tree,
    flat_tree,
    huffman_tree,
    kmeans_tree,
    random_tree,
)

COUNTS = st.lists(st.integers(0, 20), min_size=1, max_size=60)


def depths(tree: LabelTree) -> Any:
    return tree.depth_of_node[tree.leaf_of_label]


def shape(tree: LabelTree) -> Counter[tuple[int, int, int]]:
    """How many nodes there are of each depth, number of children and number of labels."""
    n_children = np.diff(tree.child_begin)
    return Counter(
        zip(
            tree.depth_of_node.tolist(),
            n_children.tolist(),
            tree.n_labels_of_node.tolist(),
            strict=True,
        )
    )


class TestComplete:
    @given(COUNTS, st.integers(2, 9))
    def test_it_is_a_heap_with_frequent_labels_first(self, counts: list[int], arity: int) -> None:
        tree = complete_tree(counts, arity)
        assert tree.n_labels == len(counts)
        # Numbered breadth first, a complete tree is one in which this is the parent of every node.
        assert tree.parent[1:].tolist() == [(v - 1) // arity for v in range(1, tree.n_nodes)]
        by_place = [(-counts[label], label) for label in tree.label[tree.is_leaf].tolist()]
        assert by_place == sorted(by_place)
        # No node could be left out, and the tree is as shallow as its arity allows.
        assert all(len(tree.children(v)) > 1 for v in tree.inner_nodes) or len(counts) == 1
        assert arity ** (tree.depth - 1) < len(counts) <= arity**tree.depth or len(counts) == 1

    def test_a_power_of_the_arity_fills_all_levels(self) -> None:
        tree = complete_tree(np.arange(27)[::-1], 3)
        assert tree.to_nested() == np.arange(27).reshape(3, 3, 3).tolist()


class TestHuffman:
    @given(COUNTS, st.integers(2, 9))
    def test_paths_are_as_short_as_those_of_its_twin(self, counts: list[int], arity: int) -> None:
        tree = huffman_tree(counts, arity)
        assert tree.n_labels == len(counts)
        if len(counts) > 1:
            assert int(np.dot(depths(tree), counts)) == huffman_cost(counts, arity)
        narrow = [v for v in tree.inner_nodes.tolist() if len(tree.children(v)) < arity]
        assert len(narrow) <= 1
        assert all(tree.depth_of_node[v] == tree.depth - 1 for v in narrow)

    @given(st.lists(st.integers(0, 9), min_size=2, max_size=7), st.integers(2, 4))
    def test_no_tree_has_shorter_paths(self, counts: list[int], arity: int) -> None:
        assert int(np.dot(depths(huffman_tree(counts, arity)), counts)) == cheapest_paths(counts, arity)

    @pytest.mark.parametrize("arity", [2, 3, 7])
    def test_labels_without_counts_make_no_needlessly_deep_tree(self, arity: int) -> None:
        assert huffman_tree(np.zeros(1000), arity).depth == complete_tree(np.zeros(1000), arity).depth

    def test_counts_of_any_kind(self) -> None:
        expected = [0, [2, [1, 3]]]
        assert huffman_tree([8, 1, 3, 1], 2).to_nested() == expected
        assert huffman_tree(np.array([0.8, 0.1, 0.3, 0.1], dtype=np.float32), 2).to_nested() == expected
        assert huffman_tree([5], 2) == LabelTree.flat(1)


class TestRandom:
    @pytest.mark.native
    @pytest.mark.parametrize("max_depth", [None, 1, 2, 3])
    @pytest.mark.parametrize(("arity", "max_leaves"), [(2, 1), (2, 5), (3, 4), (16, 3), (100, 1), (7, 50)])
    def test_it_has_the_shape_of_clusters(self, arity: int, max_leaves: int, max_depth: int | None) -> None:
        how: Any = {"arity": arity, "max_leaves": max_leaves, "max_depth": max_depth, "random_state": 0}
        for n_labels in (1, 2, 5, 64, 97):
            X = np.random.default_rng(0).random((n_labels, 30))
            clustered = kmeans_tree(
                X, sp.eye(n_labels, format="csr"), balanced=True, frequent_share=0.0, **how
            )
            assert shape(random_tree(n_labels, **how)) == shape(clustered)

    def test_the_seed_says_which(self) -> None:
        trees = [random_tree(200, 4, 10, random_state=seed) for seed in (0, 0, 1)]
        assert trees[0] == trees[1] != trees[2]
        # Every label is as likely to be anywhere: neighbours of label 0 differ from seed to seed.
        beside = Counter[int]()
        for seed in range(300):
            tree = random_tree(16, 4, 4, random_state=seed)
            beside.update(tree.labels_under(int(tree.path(0)[1])).tolist())
        assert beside.pop(0) == 300
        assert len(beside) == 15
        assert all(30 < times < 95 for times in beside.values())  # 60 are expected, give or take 7


class TestCollapse:
    @given(nested_labels(max_labels=20), st.integers(1, 5))
    def test_children_are_so_many_levels_down(self, nested: list[Any], layers: int) -> None:
        tree = LabelTree.from_nested(nested).collapse(layers)
        assert tree.to_nested() == collapsed(nested, layers)

    def test_a_binary_tree_becomes_a_wide_one(self) -> None:
        labels = np.arange(64)
        binary = LabelTree.from_nested(labels.reshape([2] * 6).tolist())
        assert binary.collapse(3).to_nested() == labels.reshape(8, 8).tolist()
        assert binary.collapse(2).to_nested() == labels.reshape(4, 4, 4).tolist()
        assert binary.collapse(1) == binary
        assert binary.collapse(6) == binary.collapse(99) == LabelTree.flat(64)


def test_flat() -> None:
    assert flat_tree(4) == LabelTree.flat(4)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: complete_tree([1, 2], 1), "complete_tree: the parameter 'arity' must be .* at least 2"),
        (lambda: complete_tree([]), r"counts must be a 1-d array .*, but has shape \(0,\)"),
        (lambda: complete_tree([[1, 2]]), r"counts must be a 1-d array .*, but has shape \(1, 2\)"),
        (lambda: complete_tree([1, np.nan]), "finite and at least 0, but label 1 has nan"),
        (lambda: huffman_tree(["a"]), "counts must be a 1-d array with a number per label, .* type <U1"),
        (lambda: huffman_tree([3, 2, -1]), r"finite and at least 0, but label 2 has -1\.0"),
        (lambda: huffman_tree([3, 2], 2.5), "huffman_tree: the parameter 'arity' must be an integer"),
        (lambda: random_tree(0), "random_tree: the parameter 'n_labels' must be an integer of at least 1"),
        (lambda: random_tree(5, max_leaves=0), "the parameter 'max_leaves' must be an integer of at least 1"),
        (lambda: random_tree(5, max_depth=0), "the parameter 'max_depth' must be an integer of at least 1"),
        (lambda: flat_tree(0), "flat_tree: the parameter 'n_labels' must be an integer of at least 1"),
        (lambda: LabelTree.flat(3).collapse(0), "collapse: the parameter 'layers' must be an integer"),
        (lambda: kmeans_tree([[1.0]], [[1]], arity=1), "kmeans_tree: the parameter 'arity' must be"),
        (
            lambda: kmeans_tree([[1.0]], [[1]], balanced=1),
            "kmeans_tree: the parameter 'balanced' must be True",
        ),
        (
            lambda: kmeans_tree([[1.0]], [[1]], label_vectors=None),
            "'label_vectors' must be one of 'features'",
        ),
        (lambda: kmeans_tree([[1.0]], [["a"], ["b"]]), "same number of rows, but have 1 and 2"),
        (
            lambda: kmeans_tree([[1.0]], [["a"]], label_vectors=np.ones((3, 1))),
            "the 1 labels of y, but has 3",
        ),
    ],
)
def test_refusals(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()

"""Wide nodes that are split: against the clustering of a flat tree, and what holds for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tests.documents import documents
from tests.reference.clustering import Clustering, label_vectors
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.trees import Taxonomy
from labeltree.trees.wide_nodes import split_wide_nodes

pytestmark = pytest.mark.native


def sets_below(tree: LabelTree) -> set[frozenset[int]]:
    return {frozenset(tree.labels_under(node).tolist()) for node in range(tree.n_nodes)}


@given(
    label_trees(30), st.integers(2, 6), st.sampled_from([None, "dense", "sparse", "zero"]), st.integers(0, 3)
)
def test_nodes_are_narrow_and_paths_are_kept(
    tree: LabelTree, max_arity: int, kind: str | None, seed: int
) -> None:
    vectors: Any = None if kind is None else np.random.default_rng(seed).random((tree.n_labels, 5))
    if kind == "sparse":
        vectors = sp.csr_matrix(vectors * (vectors > 0.5))
    elif kind == "zero":
        vectors = np.zeros_like(vectors)
    found = split_wide_nodes(tree, max_arity, vectors, seed=seed)
    assert found.arity <= max_arity
    assert sets_below(found) >= sets_below(tree)
    # As few levels as the width of each node needs, and no node with a single child that was not there.
    added = sets_below(found) - sets_below(tree)
    assert all(len(below) > 1 for below in added)
    if tree.arity <= max_arity:
        assert found == tree
    assert found == split_wide_nodes(tree, max_arity, vectors, seed=seed, n_threads=3)


@given(st.integers(2, 400), st.integers(2, 9))
def test_children_in_order_are_parted_evenly(n_labels: int, max_arity: int) -> None:
    tree = split_wide_nodes(LabelTree.flat(n_labels), max_arity)
    assert tree.labels_under(0).tolist() == list(range(n_labels))
    assert max_arity ** (tree.depth - 1) < n_labels <= max_arity**tree.depth
    for node in tree.inner_nodes:
        sizes = tree.n_labels_of_node[list(tree.children(node))]
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("max_arity", [2, 5, 8])
def test_labels_are_clustered_as_by_the_twin_of_k_means(max_arity: int) -> None:
    X, y = documents(250, 120, 70, seed=1)
    vectors = label_vectors(X, y, 0.0)
    how = Clustering(arity=max_arity, max_leaves=max_arity, seed=3)
    found = split_wide_nodes(LabelTree.flat(70), max_arity, vectors, seed=3)
    assert sets_below(found) == sets_below(LabelTree.from_nested(how.tree(vectors, y).to_nested()))


def test_inner_children_stand_for_the_sum_of_their_labels() -> None:
    # Children 0 and 2 point one way together, 1 and 3 the other; a single label of each would mislead.
    tree = LabelTree.from_nested([[0, 1, 2], [3, 4, 5], 6, 7])
    vectors = [[0, 1], [1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [0, 1]]
    found = split_wide_nodes(tree, 2, vectors)
    assert {frozenset({0, 1, 2, 6}), frozenset({3, 4, 5, 7})} <= sets_below(found)


@pytest.mark.parametrize(
    ("max_arity", "vectors", "message"),
    [
        (1, None, "max_arity must be 2 or more, but is 1"),
        (2, np.ones((3, 2)), r"a row per label, that is 4, but the shape is \(3, 2\)"),
        (2, np.ones(4), "Expected 2D array, got 1D array"),
        (2, np.full((4, 2), np.nan), "Input vectors contains NaN"),
        (2, sp.csr_matrix(np.full((4, 2), np.inf)), "Input vectors contains infinity"),
    ],
)
def test_mistakes(max_arity: int, vectors: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_wide_nodes(LabelTree.flat(4), max_arity, vectors)


class TestClassifier:
    X, y = documents(200, 120, 40, seed=2)
    TAXONOMY = Taxonomy.from_dict(
        {"even": [str(i) for i in range(0, 40, 2)], "odd": [str(i) for i in range(1, 37, 2)]}
    )

    def fit(self, **parameters: Any) -> LabelTreeClassifier:
        return LabelTreeClassifier(random_state=0, **parameters).fit(self.X, self.y)

    def test_taxonomy(self) -> None:
        model = self.fit(tree=self.TAXONOMY)
        assert model.tree_ == self.TAXONOMY.label_tree(range(40))
        assert model.tree_.to_nested() == [list(range(0, 40, 2)), list(range(1, 37, 2)), [37, 39]]

    def test_max_arity_is_that_of_the_label_vectors(self) -> None:
        model = self.fit(tree=self.TAXONOMY, max_arity=4, label_vector_prune=0.0)
        seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
        vectors = label_vectors(self.X, self.y, 0.0)
        expected = self.TAXONOMY.label_tree(range(40), max_arity=4, vectors=vectors, seed=seed)
        assert model.tree_ == expected
        assert model.tree_.arity == 4

    @pytest.mark.parametrize("tree", ["kmeans", "flat", LabelTree.flat(40)])
    def test_max_arity_of_other_trees(self, tree: Any) -> None:
        assert self.fit(tree=tree, max_arity=3).tree_.arity == 3
        assert self.fit(tree=tree, max_arity=3, n_jobs=3).tree_ == self.fit(tree=tree, max_arity=3).tree_

    def test_trees_and_taxonomies_together(self) -> None:
        model = self.fit(n_trees=2, tree=[self.TAXONOMY, LabelTree.flat(40)])
        assert model.trees_ == [self.TAXONOMY.label_tree(range(40)), LabelTree.flat(40)]

    def test_string_labels(self) -> None:
        taxonomy = Taxonomy.from_dict({"pets": ["cat", "dog"], "wild": ["lynx"]})
        y = [["cat"], ["dog", "lynx"], ["lynx"], ["cat"]]
        model = LabelTreeClassifier(tree=taxonomy).fit(np.eye(4), y)
        assert model.classes_.tolist() == ["cat", "dog", "lynx"]
        assert model.tree_.to_nested() == [[0, 1], 2]

    def test_saved_as_the_tree_it_became(self, tmp_path: Any) -> None:
        model = self.fit(tree=self.TAXONOMY, max_arity=4)
        model.save(tmp_path / "one")
        loaded = LabelTreeClassifier.load(tmp_path / "one")
        assert loaded.tree == loaded.tree_ == model.tree_
        assert loaded.max_arity == 4
        # Training it again gives the same model: what was split is narrow.
        assert loaded.fit(self.X, self.y).tree_ == model.tree_
        self.fit(n_trees=2, tree=[self.TAXONOMY, LabelTree.flat(40)]).save(tmp_path / "two")
        assert LabelTreeClassifier.load(tmp_path / "two").tree[0] == self.TAXONOMY.label_tree(range(40))

    def test_clone(self) -> None:
        model = clone(LabelTreeClassifier(tree=self.TAXONOMY, max_arity=4))
        assert model.tree == self.TAXONOMY
        assert model.max_arity == 4

    def test_taxonomy_without_any_of_the_labels(self) -> None:
        with pytest.raises(ValueError, match="none of the labels"):
            self.fit(tree=Taxonomy.from_dict({"a": ["b"]}))

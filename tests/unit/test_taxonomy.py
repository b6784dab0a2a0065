"""Taxonomies: the trees that they give, against a twin on nested lists; names; how they are made and refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.concept_tree import nested_tree
from tests.strategies import nested_labels

from labeltree.trees import LabelTree, Taxonomy

PETS = Taxonomy(
    [1, 2, 3, 4, 5, 6],
    [None, 1, 1, None, 4, 2],
    ["animals", "cats", "dogs", "plants", "oak", "lynx"],
)


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[dict[str, str | None], list[str]]:
    """The concept above each of some concepts, in any order, and labels of which at least one is a concept."""
    n_concepts = draw(st.integers(1, 12))
    # Each is below one that comes before it, or at the top; so there are no circles.
    above = [draw(st.integers(-1, i - 1)) for i in range(n_concepts)]
    order = draw(st.permutations(range(n_concepts)))
    parents = {f"c{i}": None if above[i] < 0 else f"c{above[i]}" for i in order}
    labels = draw(st.sets(st.sampled_from([*parents, "x", "y", "z"]), min_size=1))
    labels.add(draw(st.sampled_from(sorted(parents))))
    return parents, draw(st.permutations(sorted(labels)))


class TestLabelTree:
    @given(hierarchies())
    def test_is_that_of_the_twin(self, hierarchy: tuple[dict[str, str | None], list[str]]) -> None:
        parents, labels = hierarchy
        tree = Taxonomy(parents, parents.values()).label_tree(labels)
        assert tree.to_nested() == nested_tree(parents, labels)

    def test_inner_concepts_have_a_leaf_of_their_own(self) -> None:
        labels = ["animals", "cats", "dogs", "lynx", "oak"]
        assert PETS.label_tree(labels).to_nested() == [[0, [1, 3], 2], 4]

    def test_concepts_without_labels_and_single_children_are_left_out(self) -> None:
        assert PETS.label_tree(["lynx", "dogs", "oak"]).to_nested() == [[0, 1], 2]
        assert PETS.label_tree(["lynx", "dogs"]).to_nested() == [0, 1]
        assert PETS.label_tree(["lynx"]).to_nested() == [0]

    def test_unknown_labels_are_below_the_root(self) -> None:
        assert PETS.label_tree(["stone", "lynx", "dogs", "sand"]).to_nested() == [1, 2, [0, 3]]
        assert PETS.label_tree(["stone", "lynx"]).to_nested() == [1, 0]

    def test_none_of_the_labels_is_a_concept(self) -> None:
        with pytest.raises(ValueError, match=r"none of the labels \('stone', …\) is a concept .*for_columns"):
            PETS.label_tree(["stone"])
        with pytest.raises(ValueError, match="none of the labels"):
            PETS.label_tree([])

    def test_deep_hierarchies(self) -> None:
        n = 3000
        deep = Taxonomy(range(n), [None, *range(n - 1)])
        assert deep.label_tree(range(n)).depth == n - 1
        assert deep.label_tree([n - 1, 0, n // 2]).to_nested() == [1, [2, 0]]


class TestMatching:
    @pytest.mark.parametrize(
        "labels", [[6, 3, 5], ["6", "3", "5"], np.array([6, 3, 5]), ["lynx", "dogs", "oak"]]
    )
    def test_by_id_or_name(self, labels: Any) -> None:
        assert PETS.concepts_of(labels).tolist() == [5, 2, 4]
        assert PETS.matched_by(labels) == ("name" if labels[0] == "lynx" else "id")
        assert PETS.label_tree(labels).to_nested() == [[0, 1], 2]
        assert PETS.names_of(labels) == ["lynx", "dogs", "oak"]

    def test_all_in_the_same_way(self) -> None:
        # "4" is an id, but these labels are names.
        taxonomy = Taxonomy(["4", "5", "6"], [None, None, None], ["1984", "4", "oak"])
        assert taxonomy.concepts_of(["oak", "1984", "4"]).tolist() == [2, 0, 1]
        assert taxonomy.concepts_of(["5", "4"]).tolist() == [1, 0]

    def test_of_equal_names_the_first(self) -> None:
        assert Taxonomy([1, 2], [None, None], ["a", "a"]).concepts_of(["a"]).tolist() == [0]

    def test_columns(self) -> None:
        columns = PETS.for_columns(["oak", "stone", "dogs", "lynx"])
        assert columns.label_tree(np.arange(4)).to_nested() == [[3, 2], 0, 1]
        assert columns.names_of([1, 0]) == ["stone", "oak"]
        for labels in ([4], [-1], ["oak"], [0.5]):
            with pytest.raises(
                ValueError, match="the names of 4 columns, so labels must be numbers from 0 to 3"
            ):
                columns.label_tree(labels)
        assert columns != PETS
        assert columns == PETS.for_columns(["oak", "stone", "dogs", "lynx"])


class TestNames:
    def test_nodes_are_called_like_the_concept_that_all_labels_are_below(self) -> None:
        labels = ["animals", "cats", "dogs", "lynx", "oak", "stone", "sand"]
        tree = PETS.label_tree(labels)
        assert tree.draw(labels, node_names=PETS.node_names(tree, labels)).splitlines() == [
            "root (7 labels)",
            "├── animals (4 labels)",
            "│   ├── animals",
            "│   ├── cats (2 labels): cats, lynx",
            "│   └── dogs",
            "├── oak",
            "└── not in the taxonomy (2 labels): stone, sand",
        ]

    def test_nodes_in_between_have_no_name_of_their_own(self) -> None:
        taxonomy = Taxonomy.from_dict({"letters": ["a", "b", "c", "d", "e"], "x": None, "y": None, "z": None})
        tree = taxonomy.label_tree(["a", "b", "c", "d", "e"], max_arity=3)
        assert tree.to_nested() == [[0, 1, 2], [3, 4]]
        names = taxonomy.node_names(tree, ["a", "b", "c", "d", "e"])
        assert names == ["letters", None, None, "a", "b", "c", "d", "e"]
        tree = taxonomy.label_tree(["a", "1", "2", "3", "4"], max_arity=2)
        names = taxonomy.node_names(tree, ["a", "1", "2", "3", "4"])
        assert [names[v] for v in tree.inner_nodes] == [None, "not in the taxonomy", None, None]

    @given(hierarchies(), st.data())
    def test_of_any_tree_against_brute_force(
        self, hierarchy: tuple[dict[str, str | None], list[str]], data: st.DataObject
    ) -> None:
        parents, labels = hierarchy
        n = len(labels)
        tree = LabelTree.from_nested(data.draw(nested_labels(min_labels=n, max_labels=n)))
        names = Taxonomy(parents, parents.values()).node_names(tree, labels)

        def line(concept: str | None) -> list[str]:
            return [] if concept is None else [concept, *line(parents.get(concept))]

        def in_common(node: int) -> str | None:
            below = [labels[i] for i in tree.labels_under(node)]
            if all(label not in parents for label in below):
                return "not in the taxonomy"
            lines = [line(label) if label in parents else [] for label in below]
            return next((c for c in lines[0] if all(c in other for other in lines)), None)

        for node in range(tree.n_nodes):
            if tree.label[node] >= 0:
                assert names[node] == labels[tree.label[node]]
            else:
                repeated = node > 0 and in_common(tree.parent[node]) == in_common(node)
                assert names[node] == (None if repeated else in_common(node))

    def test_labels_of_another_tree_are_refused(self) -> None:
        with pytest.raises(ValueError, match="one entry per label of the tree, that is 3, but has 1"):
            PETS.node_names(LabelTree.flat(3), ["oak"])
        with pytest.raises(ValueError, match=r"one name \(or None\) per node, that is 4, but has 1"):
            LabelTree.flat(3).draw(node_names=["x"])

    def test_in_graphviz(self) -> None:
        labels = ["cats", "dogs", "oak"]
        tree = PETS.label_tree(labels)
        graph = tree.to_graphviz(labels, node_names=PETS.node_names(tree, labels))
        assert '1 [label="animals (2 labels)"];' in graph
        assert '0 [label="3 labels"];' in graph


class TestValue:
    def test_copies_are_equal(self) -> None:
        for same in (copy.deepcopy(PETS), pickle.loads(pickle.dumps(PETS)), PETS):
            assert same == PETS
        assert Taxonomy(PETS.ids, [None] * 6, PETS.names) != PETS
        assert PETS != "PETS"

    def test_numbers(self) -> None:
        assert len(PETS) == 6
        assert PETS.depth_of_concept.tolist() == [1, 2, 2, 1, 2, 3]
        assert repr(PETS) == "Taxonomy(n_concepts=6, n_roots=2, depth=3)"

    def test_names_are_ids_without_others(self) -> None:
        assert Taxonomy([1, " b "], [None, 1]).names == ["1", "b"]


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([1, "1"], [None, None]), "concept 1: the id '1' occurs twice"),
            (([1, ""], [None, None]), "concept 1: the id is empty"),
            (([1, 2], [None, 7]), "concept 1: the parent '7' of '2' is not the id of a concept.*root='7'"),
            (([1, 2, 3], [2, 3, 2]), "below each other in a circle: '2' below '3' below '2'"),
            (([1], [1]), "circle: '1' below '1'"),
            ((range(20), [19, *range(19)]), "circle: '0' below '19' .* below … below '0'"),
            (([1, 2], [None]), "one of parents per concept, that is 2, got 1"),
            (([1, 2], [None, 1], ["a"]), "one of names per concept, that is 2, got 1"),
        ],
    )
    def test_not_a_forest(self, arguments: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Taxonomy(*arguments)

    def test_root_without_a_row(self) -> None:
        assert Taxonomy([2, 3], [1, 2], root=1).parent.tolist() == [-1, 0]
        # A root with a row is a concept like any other.
        assert Taxonomy([1, 2], [None, 1], root=1).parent.tolist() == [-1, 0]


class TestDictionary:
    def test_example(self) -> None:
        taxonomy = Taxonomy.from_dict({"a": {"b": {}, "c": ["d", 5], "e": None}, "f": ("g",)})
        above = {
            i: taxonomy.ids[p] if p >= 0 else None for i, p in zip(taxonomy.ids, taxonomy.parent, strict=True)
        }
        assert above == {"a": None, "f": None, "b": "a", "c": "a", "e": "a", "g": "f", "d": "c", "5": "c"}

    @pytest.mark.parametrize(
        ("nested", "message"),
        [
            (["a"], "expected a dictionary of concepts, got list"),
            ({"a": "b"}, "below 'a': expected a dictionary, a list of concepts or None, got 'b'"),
            ({"a": [["b"]]}, r"below 'a': a concept must be a text or an integer, got \['b'\]"),
            ({None: {}}, "below None: a concept must be a text or an integer, got None"),
            ({"a": ["c"], "b": ["c"]}, "'c' occurs twice, below 'a' and below 'b'"),
        ],
    )
    def test_mistakes(self, nested: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Taxonomy.from_dict(nested)

    def test_dictionary_that_contains_itself(self) -> None:
        nested: dict[str, Any] = {}
        nested["a"] = nested
        with pytest.raises(ValueError, match="'a' occurs twice"):
            Taxonomy.from_dict(nested)


def test_names_of_several_concepts_are_told() -> None:
    taxonomy = Taxonomy([1, 2, 3, 4], [None, 1, 1, None], ["a", "b", "b", "c"])
    with pytest.warns(UserWarning, match=r"several concepts have the name of 1 label \('b', …\)"):
        taxonomy.label_tree(["b", "c"])
    taxonomy.label_tree([2, 4])

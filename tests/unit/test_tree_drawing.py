"""Drawings of trees: what is shown, what is left out, and that Graphviz source is well formed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import label_trees

from labeltree.trees import LabelTree

# The part of Graphviz's language that is used: attributes, nodes and edges, with quoted or plain words.
WORD = r'(?:\w+|"(?:[^"\\\n]|\\.)*")'
ATTRIBUTES = rf"\[(\w+={WORD}(?:, \w+={WORD})*)\]"
STATEMENT = re.compile(rf"  (?:(\w+=\w+)|(\w+)(?: -> (\w+))?(?: {ATTRIBUTES})?);")


def parse_dot(source: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the nodes with their texts, as Graphviz would show them, and the edges."""
    first, *statements, last, end = source.split("\n")
    assert (first, last, end) == ("digraph label_tree {", "}", "")
    nodes: dict[str, str] = {}
    edges = []
    for statement in statements:
        match = STATEMENT.fullmatch(statement)
        assert match, statement
        setting, name, target, attributes = match.groups()
        if target:
            edges.append((name, target))
        elif setting is None and name != "node":
            text = re.search(rf"label=({WORD})", attributes)
            assert text
            assert name not in nodes
            nodes[name] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text[1][1:-1])
            nodes[name] = nodes[name].replace("&amp;", "&")
    return nodes, edges


def sixteen_by_hundred() -> LabelTree:
    return LabelTree.from_nested([list(range(100 * i, 100 * i + 100)) for i in range(16)])


class TestText:
    def test_small_tree(self) -> None:
        tree = LabelTree.from_nested([0, 1, [[2, 3], 4, [5]], 6])
        assert tree.draw().split("\n") == [
            "root (7 labels)",
            "├── 0, 1",
            "├── node 3 (4 labels)",
            "│   ├── node 5 (2 labels): 2, 3",
            "│   ├── 4",
            "│   └── node 7 (1 label): 5",
            "└── 6",
        ]

    def test_names_stay_on_their_line(self) -> None:
        tree = LabelTree.flat(3)
        assert tree.draw(names=["sea", "two\nlines ", "été"]) == "root (3 labels): sea, two lines, été"

    def test_wide_tree_lists_a_few_labels_of_each_node(self) -> None:
        lines = sixteen_by_hundred().draw(max_labels_per_node=3).split("\n")
        assert len(lines) == 17
        assert lines[0] == "root (1,600 labels)"
        assert lines[1] == "├── node 1 (100 labels): 0, 1, 2, … 97 more"
        assert lines[16] == "└── node 16 (100 labels): 1500, 1501, 1502, … 97 more"

    def test_large_tree_is_cut_from_below(self) -> None:
        tree = LabelTree.from_nested([[[0, 1], [2, 3], [4]], [[5], [6]], [[7], [8]]])
        assert tree.draw(max_nodes=6).split("\n") == [
            "root (9 labels)",
            "├── node 1 (5 labels)",
            "│   ├── node 4 (2 labels): 0, 1",
            "│   ├── node 5 (2 labels): 2, 3",
            "│   └── … 1 more (1 label)",
            "├── node 2 (2 labels) …",
            "└── node 3 (2 labels) …",
        ]
        assert tree.draw(max_nodes=1) == "root (9 labels) …"

    @given(label_trees())
    def test_a_whole_drawing_shows_every_label_once_and_every_inner_node(self, tree: LabelTree) -> None:
        names = [f"<{label}>" for label in range(tree.n_labels)]
        text = tree.draw(names, max_nodes=tree.n_nodes, max_labels_per_node=tree.n_labels)
        assert "…" not in text
        # From top to bottom is from left to right, as long as every label is drawn where it hangs.
        assert re.findall(r"<(\d+)>", text) == [str(label) for label in tree.labels_under(0)]
        assert sorted(map(int, re.findall(r"node (\d+) ", text))) == tree.inner_nodes[1:].tolist()

    @given(label_trees(), st.integers(1, 6), st.integers(1, 3))
    def test_cut_drawings_keep_their_limits(self, tree: LabelTree, max_nodes: int, max_labels: int) -> None:
        lines = tree.draw(max_nodes=max_nodes, max_labels_per_node=max_labels).split("\n")
        nodes = [line for line in lines if not re.match(r"[│ ]*└── … \d+ more \(\d+ labels?\)$", line)]
        assert len(nodes) <= max_nodes
        for line in nodes:
            listed = re.sub(r", … \d+ more$", "", re.sub(r"^.*[:─] ", "", line))
            assert len(listed.split(", ")) <= max_labels

    def test_limits_must_be_positive(self) -> None:
        with pytest.raises(ValueError, match="max_nodes must be an integer of at least 1, got 0"):
            LabelTree.flat(2).draw(max_nodes=0)
        with pytest.raises(ValueError, match="max_labels_per_node must be an integer of at least 1, got -1"):
            LabelTree.flat(2).draw(max_labels_per_node=-1)

    def test_names_must_fit(self) -> None:
        with pytest.raises(ValueError, match="one name per label, that is 2, but has 3"):
            LabelTree.flat(2).draw(names=["a", "b", "c"])


class TestGraphviz:
    @given(label_trees())
    def test_whole_tree(self, tree: LabelTree) -> None:
        nodes, edges = parse_dot(tree.to_graphviz())
        assert sorted(map(int, nodes)) == list(range(tree.n_nodes))
        assert edges == [(str(tree.parent[v]), str(v)) for v in range(1, tree.n_nodes)]
        for label, leaf in enumerate(tree.leaf_of_label):
            assert nodes[str(leaf)] == str(label)
        assert nodes["0"] == f"{tree.n_labels} label" + "s" * (tree.n_labels > 1)

    @given(label_trees(), st.integers(1, 8))
    def test_cut_tree_accounts_for_every_child(self, tree: LabelTree, max_nodes: int) -> None:
        nodes, edges = parse_dot(tree.to_graphviz(max_nodes=max_nodes))
        assert {node for edge in edges for node in edge} <= set(nodes)
        drawn = [int(node) for node in nodes if not node.startswith("more")]
        assert drawn == list(range(min(max_nodes, tree.n_nodes)))
        for node in drawn:
            more = nodes.get(f"more{node}", "… 0 more")
            hidden = int(more.removeprefix("… ").removesuffix(" more"))
            assert sum(int(child in drawn) for child in tree.children(node)) + hidden == len(
                tree.children(node)
            )
            assert ((str(node), f"more{node}") in edges) == (hidden > 0)

    @given(st.text())
    def test_names_are_shown_as_they_are(self, name: str) -> None:
        nodes, _ = parse_dot(LabelTree.flat(2).to_graphviz(names=[name, "other"]))
        lines = ["".join(c if c.isprintable() else " " for c in line) for line in name.splitlines()]
        assert nodes["1"] == "\n".join(lines)
        assert nodes["2"] == "other"

    def test_characters_with_a_meaning_are_escaped(self) -> None:
        source = LabelTree.flat(1).to_graphviz(names=['"R&D" \\N\nsecond'])
        assert '1 [label="\\"R&amp;D\\" \\\\N\\nsecond", shape=plain];' in source

    def test_limits_and_names_are_checked(self) -> None:
        with pytest.raises(ValueError, match="max_nodes must be an integer of at least 1, got 0"):
            LabelTree.flat(2).to_graphviz(max_nodes=0)
        with pytest.raises(ValueError, match="one name per label, that is 2, but has 1"):
            LabelTree.flat(2).to_graphviz(names=["a"])

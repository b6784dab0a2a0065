"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from labeltree.trees import LabelTree


@st.composite
def nested_labels(draw: st.DrawFn, max_labels: int = 12) -> list[Any]:
    """Nested lists with the labels 0 to m - 1, each once: trees of any shape, unary nodes included."""
    n_labels = draw(st.integers(1, max_labels))
    siblings: list[Any] = draw(st.permutations(range(n_labels)))
    # Runs of siblings are put under a new parent, again and again; without any, the tree is flat.
    for _ in range(draw(st.integers(0, n_labels))):
        start = draw(st.integers(0, len(siblings) - 1))
        stop = draw(st.integers(start + 1, len(siblings)))
        siblings = [*siblings[:start], siblings[start:stop], *siblings[stop:]]
    return siblings


def label_trees(max_labels: int = 12) -> st.SearchStrategy[LabelTree]:
    """Label trees of any shape with at most ``max_labels`` labels."""
    return nested_labels(max_labels).map(LabelTree.from_nested)


def label_rows(n_labels: int, max_rows: int = 8) -> st.SearchStrategy[list[list[int]]]:
    """The labels of some rows: sorted, without repetition, and sometimes none."""
    row = st.sets(st.integers(0, n_labels - 1), max_size=6).map(sorted)
    return st.lists(row, max_size=max_rows)

"""Algorithms 1 and 2 of the paper, line by line: which examples train which nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labeltree.trees import LabelTree


def assign_to_nodes(tree: LabelTree, labels: Iterable[int]) -> tuple[set[int], set[int]]:
    """Algorithm 2: return the positive and the negative nodes of an example with these labels."""
    P: set[int] = set()
    N = {0}
    for j in labels:
        v = int(tree.leaf_of_label[j])
        while v != -1 and v not in P:
            P = P | {v}
            N = N - {v}
            for child in tree.children(v):
                if child not in P:
                    N = N | {child}
            v = int(tree.parent[v])
    return P, N


def training_sets(tree: LabelTree, rows: Sequence[Iterable[int]]) -> list[list[tuple[int, int]]]:
    """The first part of algorithm 1: return for each node its training examples as (row, z) pairs."""
    D: list[list[tuple[int, int]]] = [[] for _ in range(tree.n_nodes)]
    for i, labels in enumerate(rows):
        P, N = assign_to_nodes(tree, labels)
        for v in P:
            D[v].append((i, 1))
        for v in N:
            D[v].append((i, 0))
    return D

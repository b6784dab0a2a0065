"""Label trees as parent arrays, triples, nested lists and JSON.

Every function here is iterative, so that the depth of a tree is not limited by the call stack.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.trees.checks import (
    INT32_MAX,
    Int32Array,
    IntArray,
    check_labels,
    cycle_text,
    find_cycle,
    first_true,
    int32_array,
    integer_array,
)

#: The two arrays that define a tree: ``child_begin`` and ``label``.
TreeArrays: TypeAlias = tuple[Int32Array, Int32Array]
#: A label, or the list of a node's children.
Nested: TypeAlias = "int | Sequence[Nested]"


def arrays_from_parents(parent: ArrayLike, label: ArrayLike) -> TreeArrays:
    """Return the arrays of the tree in which node ``i`` has the parent ``parent[i]`` and ``label[i]``."""
    parent = int32_array(parent, "parent")
    label = int32_array(label, "label")
    if parent.size != label.size:
        raise ValueError(
            f"parent and label must have one entry per node each, but have {parent.size} and {label.size}"
        )
    if (node := first_true(parent >= parent.size)) is not None:
        raise ValueError(
            f"node {node} has the parent {parent[node]}, but the nodes are 0 to {parent.size - 1}"
        )
    return _breadth_first(parent, label, np.arange(parent.size))


def arrays_from_triples(triples: Iterable[Sequence[int | None]] | NDArray[Any]) -> TreeArrays:
    """Return the arrays of the tree given by (parent, node, label) triples in any order."""
    parent_id, node_id, label = _columns_of(triples)
    if (row := first_true(node_id < 0)) is not None:
        raise ValueError(f"node ids must be 0 or more, but triple {row} is about node {node_id[row]}")
    label = int32_array(label, "label")

    by_id = np.argsort(node_id, kind="stable")
    sorted_ids = node_id[by_id]
    if (at := first_true(sorted_ids[1:] == sorted_ids[:-1])) is not None:
        first, second = by_id[at : at + 2]
        raise ValueError(
            f"every node must have one triple, but triples {first} and {second} "
            f"are both about node {node_id[first]}"
        )
    position = np.minimum(np.searchsorted(sorted_ids, parent_id), node_id.size - 1)
    is_root = parent_id == -1
    if (row := first_true((sorted_ids[position] != parent_id) & ~is_root)) is not None:
        raise ValueError(
            f"node {node_id[row]} has the parent {parent_id[row]}, which has no triple; "
            f"a root is given as (-1, root, -1)"
        )
    return _breadth_first(np.where(is_root, -1, by_id[position]).astype(np.int32), label, node_id)


def arrays_from_nested(nested: Nested) -> TreeArrays:
    """Return the arrays of the tree whose inner nodes are lists and whose leaves are numbers."""
    nodes: list[Any] = [nested]
    child_begin: list[int] = []
    label: list[int] = []

    def position(node: int) -> str:
        steps: list[int] = []
        while node > 0:
            # Of the nodes with a child_begin of at most this node, only the last has children.
            parent = bisect_right(child_begin, node) - 1
            steps.append(node - child_begin[parent])
            node = parent
        return "nested" + "".join(f"[{step}]" for step in reversed(steps))

    # Nodes are appended while they are visited, which is breadth first.
    seen: set[int] = set()
    for node, item in enumerate(nodes):
        child_begin.append(len(nodes))
        if isinstance(item, list | tuple):
            if not item:
                raise ValueError(f"{position(node)} is an empty list, but a node must have children")
            # A list that is met twice would double its labels, or contains itself and would never end.
            if id(item) in seen:
                raise ValueError(f"{position(node)} is a list that is also elsewhere in the tree")
            seen.add(id(item))
            nodes.extend(item)
            label.append(-1)
        elif isinstance(item, int | np.integer) and not isinstance(item, bool) and 0 <= item <= INT32_MAX:
            label.append(int(item))
        else:
            raise ValueError(
                f"{position(node)} must be a label (an integer of 0 or more) or a list of children, "
                f"but is {item!r}"
            )
    if len(nodes) == 1:
        return _under_a_root(label[0])
    child_begin.append(len(nodes))
    return np.array(child_begin, dtype=np.int32), np.array(label, dtype=np.int32)


def arrays_from_json(text: str | bytes) -> TreeArrays:
    """Return the arrays of the tree written by ``LabelTree.to_json``, or of nested lists in JSON."""
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError(
            'the JSON is nested too deeply to be read; write the tree as {"parent": [...], "label": [...]}'
        ) from error
    except ValueError as error:
        raise ValueError(f"a tree must be given as JSON, but the text is not: {error}") from error
    if isinstance(content, list):
        return arrays_from_nested(content)
    if not isinstance(content, dict) or set(content) != {"parent", "label"}:
        kind = type(content).__name__
        found = f"the keys {sorted(content)}" if isinstance(content, dict) else f"one {kind}"
        raise ValueError(
            f'a tree in JSON is {{"parent": [...], "label": [...]}} or nested lists of labels, '
            f"but got {found}"
        )
    return arrays_from_parents(content["parent"], content["label"])


def nested_from_arrays(child_begin: Int32Array, label: Int32Array) -> list[Nested]:
    """Return the nested lists of a tree."""
    begin = child_begin.tolist()
    nodes: list[Any] = label.tolist()
    # Backwards, the children of a node are complete before the node itself.
    for node in np.flatnonzero(label < 0)[::-1].tolist():
        nodes[node] = nodes[begin[node] : begin[node + 1]]
    root: list[Nested] = nodes[0]
    return root


def _columns_of(
    triples: Iterable[Sequence[int | None]] | NDArray[Any],
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the parents, nodes and labels of triples, with -1 for None."""
    if isinstance(triples, np.ndarray):
        if triples.ndim != 2 or triples.shape[1] != 3:
            raise ValueError(f"triples must be an array of shape (n, 3), but the shape is {triples.shape}")
        parent, node, label = triples.T
    else:
        rows = list(triples)
        for number, row in enumerate(rows):
            if not isinstance(row, Sequence | np.ndarray) or len(row) != 3:
                raise ValueError(f"a triple is (parent, node, label), but triple {number} is {row!r}")
        parent, node, label = ([row[i] for row in rows] for i in range(3))
        parent, label = ([-1 if value is None else value for value in column] for column in (parent, label))
    return integer_array(parent, "parent"), integer_array(node, "node"), integer_array(label, "label")


def _breadth_first(parent: Int32Array, label: Int32Array, node_ids: IntArray) -> TreeArrays:
    """Renumber nodes breadth first; ``node_ids`` are the names of the given nodes in messages."""
    n_nodes = parent.size
    roots = np.flatnonzero(parent < 0)
    if roots.size != 1:
        found = f"{roots.size} have: {node_ids[roots[:5]].tolist()}" if roots.size else "none has"
        raise ValueError(f"exactly one node, the root, must have the parent -1, but {found}")
    n_children = np.bincount(parent[parent >= 0], minlength=n_nodes)
    # The root comes first because its parent is -1, so children begin at 1. Stable: siblings keep their order.
    by_parent = np.argsort(parent, kind="stable")
    begin = np.cumsum(n_children) - n_children + 1

    levels = [roots]
    while levels[-1].size > 0:
        nodes = levels[-1]
        counts = n_children[nodes]
        first_of_next = np.cumsum(counts) - counts
        levels.append(by_parent[np.arange(counts.sum()) + np.repeat(begin[nodes] - first_of_next, counts)])
    order = np.concatenate(levels)
    if order.size < n_nodes:
        cycle = cycle_text([str(node_ids[node]) for node in find_cycle(parent)], " -> ")
        raise ValueError(
            f"the nodes must form a tree, but these are their own ancestors (node -> parent): {cycle}"
        )

    check_labels(n_children, label, node_ids)
    if n_nodes == 1:
        return _under_a_root(int(label[0]))
    child_begin = np.ones(n_nodes + 1, dtype=np.int32)
    child_begin[1:] += np.cumsum(n_children[order], dtype=np.int32)
    return child_begin, label[order]


def _under_a_root(label: int) -> TreeArrays:
    """Return the tree of one leaf below a root; a root is never a leaf."""
    return np.array([1, 2, 2], dtype=np.int32), np.array([-1, label], dtype=np.int32)

"""Checks that arrays describe a label tree; every message names the node at fault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Int32Array: TypeAlias = NDArray[np.int32]
IntArray: TypeAlias = NDArray[np.integer]

INT32_MAX = int(np.iinfo(np.int32).max)


def first_true(mask: NDArray[np.bool_]) -> int | None:
    """Return the position of the first True, None if there is none."""
    return int(np.argmax(mask)) if mask.any() else None


def integer_array(values: ArrayLike, name: str) -> IntArray:
    """Return ``values`` as a 1-d array of integers, or raise a ``ValueError`` that calls it ``name``."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{name} must be a 1-d array of integers, but is no array: {error}") from error
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size > 0):
        raise ValueError(
            f"{name} must be a 1-d array of integers, but is {array.ndim}-d and of type {array.dtype}"
        )
    return array if array.size > 0 else array.astype(np.int64)


def int32_array(values: ArrayLike, name: str) -> Int32Array:
    """Return a new 1-d int32 array of ``values``, or raise a ``ValueError`` that calls it ``name``."""
    array = integer_array(values, name)
    if (at := first_true((array < -1) | (array > INT32_MAX))) is not None:
        raise ValueError(f"{name} must hold integers from -1 to {INT32_MAX}, but {name}[{at}] is {array[at]}")
    return array.astype(np.int32)


def check_layout(child_begin: IntArray, n_nodes: int) -> None:
    """Raise unless ``child_begin`` numbers ``n_nodes`` nodes breadth first from an inner root."""
    if child_begin.size != n_nodes + 1:
        raise ValueError(
            f"child_begin must have one entry more than label, "
            f"that is {n_nodes + 1}, but has {child_begin.size}"
        )
    if n_nodes < 2:
        raise ValueError(f"a label tree has a root and at least one leaf below it, but n_nodes is {n_nodes}")
    if child_begin[0] != 1 or child_begin[-1] != n_nodes:
        raise ValueError(
            f"child_begin must start with 1 and end with the number of nodes, {n_nodes}, "
            f"but starts with {child_begin[0]} and ends with {child_begin[-1]}"
        )
    if (at := first_true(child_begin[1:] < child_begin[:-1])) is not None:
        raise ValueError(
            f"child_begin must not decrease, but child_begin[{at}] is {child_begin[at]} "
            f"and child_begin[{at + 1}] is {child_begin[at + 1]}"
        )
    # The ranges are contiguous and ordered. If parents also come before their children, there is no cycle.
    if (node := first_true(child_begin[:-1] <= np.arange(n_nodes))) is not None:
        raise ValueError(
            f"nodes must be numbered breadth first, so that children come after their parent, "
            f"but child_begin[{node}] is {child_begin[node]}"
        )


def check_labels(n_children: IntArray, label: IntArray, node_ids: IntArray | None = None) -> None:
    """Raise unless leaves, and only leaves, carry the labels 0 to ``n_leaves - 1``, each once.

    The messages call the nodes by their ``node_ids``, by default 0, 1, 2 and so on.
    """

    def name(node: int) -> str:
        return f"node {node if node_ids is None else node_ids[node]}"

    is_leaf = n_children == 0
    if (node := first_true(~is_leaf & (label >= 0))) is not None:
        raise ValueError(
            f"{name(node)} has children and label {label[node]}, but only leaves have labels: "
            f"give it label -1, and its label to a new leaf below it"
        )
    if (node := first_true(is_leaf & (label < 0))) is not None:
        raise ValueError(
            f"{name(node)} has neither children nor a label: "
            f"every leaf must have a label (0 or more); remove the node or label it"
        )

    leaves = np.flatnonzero(is_leaf)
    labels = label[leaves]
    times = np.bincount(labels[labels < leaves.size], minlength=leaves.size)
    if (doubled := first_true(times > 1)) is not None:
        nodes = leaves[labels == doubled]
        raise ValueError(
            f"every label must be at exactly one leaf, but label {doubled} is at {nodes.size} leaves, "
            f"among them {name(nodes[0])} and {name(nodes[1])}"
        )
    if (missing := first_true(times == 0)) is not None:
        node = leaves[labels >= leaves.size][0]
        raise ValueError(
            f"label {missing} is missing: a tree with {leaves.size} leaves must have the labels "
            f"0 to {leaves.size - 1}, each once, but {name(node)} has label {label[node]}"
        )


def find_cycle(parent: IntArray) -> list[int]:
    """Return the nodes of a cycle, each before its parent; an empty list if all nodes lead to a root (parent -1)."""
    above = parent.tolist()
    leads_to_root = [False] * len(above)
    for node in range(len(above)):
        walk: dict[int, None] = {}
        while node >= 0 and not leads_to_root[node]:
            if node in walk:
                nodes = list(walk)
                return nodes[nodes.index(node) :]
            walk[node] = None
            node = above[node]
        for node in walk:
            leads_to_root[node] = True
    return []


def cycle_text(names: Sequence[str], link: str) -> str:
    """Return a cycle as text: its names, at most six of them, and the first again."""
    return link.join([*names[:6], *(["…"] if len(names) > 6 else []), names[0]])

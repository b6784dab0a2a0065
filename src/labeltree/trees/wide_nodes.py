"""New nodes between a node with too many children and these children."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from labeltree import _native, scikit_learn
from labeltree import sparse as sp
from labeltree.trees.checks import Int32Array
from labeltree.trees.conversion import Nested
from labeltree.trees.label_vectors import given_vectors
from labeltree.trees.tree import LabelTree


def split_wide_nodes(
    tree: LabelTree,
    max_arity: int,
    vectors: Any = None,
    *,
    seed: int = 0,
    n_threads: int = 1,
    progress: _native.Progress | None = None,
) -> LabelTree:
    """Return ``tree`` with new nodes, so that no node has more than ``max_arity`` children.

    The children of a wide node are clustered into parts of equal size, and large parts are clustered again. The vector
    of an inner node is the sum of the vectors of the labels below it.

    Parameters
    ----------
    tree : LabelTree
    max_arity : int
        At least 2.
    vectors : sparse matrix or array of shape (n_labels, d), optional
        The vectors that labels are clustered by. By default children are split in their order.
    seed, n_threads : int
        The seed and the number of threads of the clustering. The tree does not depend on the number of threads.
    progress : optional
        Reports the progress.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> from labeltree.trees.wide_nodes import split_wide_nodes
    >>> split_wide_nodes(LabelTree.flat(5), 3).to_nested()
    [[0, 1, 2], [3, 4]]
    >>> split_wide_nodes(LabelTree.flat(4), 2, [[1, 0], [0, 1], [1, 0], [0, 1]]).to_nested()
    [[0, 2], [1, 3]]
    """
    if max_arity < 2:
        raise ValueError(f"max_arity must be 2 or more, but is {max_arity}")
    if vectors is not None:
        vectors = scikit_learn.check_array(
            vectors, accept_sparse="csr", dtype=np.float32, input_name="vectors"
        )
        if vectors.shape[0] != tree.n_labels:
            raise ValueError(
                f"vectors must have a row per label, that is {tree.n_labels}, but the shape is {vectors.shape}"
            )
    wide = np.flatnonzero(np.diff(tree.child_begin) > max_arity).tolist()
    if not wide:
        return tree
    above, rank = tree.parent.copy(), np.arange(tree.n_nodes, dtype=np.int32)
    parents: list[Int32Array] = [above]
    labels: list[Int32Array] = [tree.label]
    ranks: list[Int32Array] = [rank]
    n_nodes = tree.n_nodes
    for node in wide:
        children = np.asarray(tree.children(node))
        if vectors is None:
            between = LabelTree.from_nested(_split(range(children.size), max_arity))
        else:
            summed = _vectors_of_children(tree, node, vectors)
            between = _clustered(summed, max_arity, seed, n_threads, progress or _native.Progress())
        # The root of `between` is the wide node, its leaves are the children, and the other nodes are new.
        new = between.inner_nodes[1:]
        number = np.empty(between.n_nodes, dtype=np.int32)
        number[0] = node
        number[new] = np.arange(n_nodes, n_nodes + new.size)
        above[children] = number[between.parent[between.leaf_of_label]]
        rank[children] = between.leaf_of_label
        parents.append(number[between.parent[new]])
        labels.append(np.full(new.size, -1, dtype=np.int32))
        ranks.append(new)
        n_nodes += new.size
    # Siblings are ordered by rank. `between` gives ranks to all children of a node or to none.
    order = np.argsort(np.concatenate(ranks), kind="stable")
    position = np.empty(n_nodes + 1, dtype=np.int32)
    position[order] = np.arange(n_nodes)
    position[-1] = -1  # the parent of the root
    return LabelTree.from_parents(position[np.concatenate(parents)[order]], np.concatenate(labels)[order])


def _vectors_of_children(tree: LabelTree, node: int, vectors: Any) -> Any:
    children = tree.children(node)
    begin = np.zeros(len(children) + 1, dtype=np.int64)
    np.cumsum(tree.n_labels_of_node[children.start : children.stop], out=begin[1:])
    labels = tree.labels_under(node)
    is_below = sp.csr_array(
        (np.ones(labels.size, dtype=np.float32), labels, begin), shape=(len(children), tree.n_labels)
    )
    return is_below @ vectors


def _clustered(
    vectors: Any, max_arity: int, seed: int, n_threads: int, progress: _native.Progress
) -> LabelTree:
    """Return a tree whose labels are the rows of ``vectors``: for the kernel, examples with one label each."""
    features = given_vectors(vectors)
    options = _native.ClusteringOptions(
        arity=max_arity, max_leaves=max_arity, frequent_share=0.0, seed=seed, n_threads=n_threads
    )
    n_rows = vectors.shape[0]
    rows, labels = np.arange(n_rows + 1, dtype=np.int64), np.arange(n_rows, dtype=np.int32)
    examples = _native.Examples(features, rows, labels, n_rows)
    return LabelTree(*_native.cluster_labels(features, examples, options, progress))


def _split(items: range, max_arity: int) -> list[Nested]:
    """Return the items in their order as nested lists of nearly equal size, with as few levels as possible."""
    if len(items) <= max_arity:
        return list(items)
    room = max_arity
    while room * max_arity < len(items):
        room *= max_arity
    n_parts = -(-len(items) // room)
    ends = [-(-len(items) * part // n_parts) for part in range(n_parts + 1)]
    parts = [items[begin:end] for begin, end in pairwise(ends)]
    return [part[0] if len(part) == 1 else _split(part, max_arity) for part in parts]
